import { describe, expect, it } from 'vitest'
import { columnsOf, curveInWords, logTicks, noCurveReason } from '../../../../renderer/window/words/curve.ts'
import { factsOf, jobLead } from '../../../../renderer/window/words/job-facts.ts'
import { troubleOf } from '../../../../renderer/window/words/job-trouble.ts'
import { lineInWords } from '../../../../renderer/window/words/log-line.ts'
import { asSentence } from '../../../../renderer/window/words/sentence.ts'
import { peers } from '../../fixtures/people.ts'
import * as snapshots from '../../fixtures/snapshots.ts'

const plain = (text: string) => text.replaceAll('\u00a0', ' ')

describe('the job in words', () => {
  it('has a value for each fact, or says that there is none yet', () => {
    const facts = (job: typeof snapshots.training.job) =>
      factsOf(job!).map(({ value, note }) => plain(`${value} ${note}`.trim()))
    expect(facts(snapshots.training.job)).toEqual([
      '40% 7,140 updates',
      '2 h 10 – 2 h 40 min',
      '20.4 samples/s',
      '51% right, loss 1.66',
    ])
    expect(facts(snapshots.gathering.job)).toEqual(['0% 0 updates', 'not known yet', '0 trained', 'none yet'])
    const stalled = {
      ...snapshots.training.job!,
      secondsLeft: null,
      samplesPerSecond: 0,
      stalledForSeconds: 42,
    }
    expect(facts(stalled)[1]).toBe('stalled for 42 s')
  })

  it('says who sets the pace', () => {
    expect(jobLead(snapshots.training.job!, peers.laptop)).toBe(
      'Hosted by garage-tower. 5 PCs in 2 clusters train it. attic-pc sets the pace of cluster A. This PC has trained 114,240 samples.',
    )
  })

  it('counts those who train while others wait', () => {
    const job = snapshots.lost.job!
    expect(jobLead(job, peers.laptop)).toBe(
      'Hosted by garage-tower. 2 of 5 PCs train it now, in cluster B. This PC has trained 114,240 samples.',
    )
    expect(jobLead({ ...job, plan: { ...job.plan!, active: [] } }, peers.laptop)).toBe(
      'Hosted by garage-tower. None of its 5 PCs trains now: no whole cluster is left. This PC has trained 114,240 samples.',
    )
  })

  it('says who is lost, what is missing and what goes on', () => {
    const trouble = troubleOf(snapshots.lost.job!, peers.laptop)
    expect({ ...trouble, text: plain(trouble!.text) }).toEqual({
      tone: 'caution',
      title: 'office-thinkpad is lost',
      text: 'It did not answer for 15 s. With it, layers 8–10 are missing. One cluster goes on, at 10.8 samples/s. You need not do anything.',
    })
    expect(troubleOf(snapshots.training.job!, peers.laptop)).toBeUndefined()
  })

  it('gives a reason where there is no curve', () => {
    expect(noCurveReason(snapshots.training.job!)).toBeUndefined()
    expect(noCurveReason(snapshots.gathering.job!)).toBe(
      'The curve begins with the first update; training has not started yet.',
    )
    expect(noCurveReason({ ...snapshots.training.job!, trainingCurve: [], validationCurve: [] })).toMatch(
      /the host tells of it soon/,
    )
  })
})

describe('the curve', () => {
  it('lines up two curves over one column of updates and drops what is no number', () => {
    const scores = (loss: number) => ({ loss, accuracy: 0, top5: 0, perplexity: 0 })
    expect(
      columnsOf({
        trainingCurve: [
          { updates: 1, loss: 4 },
          { updates: 2, loss: Number.NaN },
          { updates: 3, loss: 2 },
        ],
        validationCurve: [{ updates: 2, scores: scores(3) }],
      }),
    ).toEqual({ x: [1, 2, 3], loss: [4, null, 2], validation: [null, 3, null] })
  })

  it('has round ticks around all values', () => {
    expect(logTicks(2.2, 5.3)).toEqual([2, 2.5, 3, 4, 5, 6])
    expect(logTicks(0.012, 2.4).at(0)).toBe(0.01)
    expect(logTicks(0.012, 2.4).at(-1)).toBe(2.5)
    expect(logTicks(1, 1)).toEqual([1, 1.5])
  })

  it('is told in a sentence', () => {
    expect(curveInWords(snapshots.training.job!)).toMatch(
      /^Loss fell from \d\.\d+ to 1\.\d+ by update 7,140; validation is at 1\.\d+\.$/,
    )
  })
})

describe('lines of the log', () => {
  it('are sentences, without the engine of who comes', () => {
    expect(
      [
        'plan 1: Cluster A is attic-pc layers 1–3 → ben layers 4–7',
        'hall-imac joined (wasm)',
        'hall-imac is back (tfjs-wasm)',
        'Cluster A stops; one other goes on',
        'after 6,640 updates: validation loss 1.689, accuracy 50.8%',
      ].map(lineInWords),
    ).toEqual([
      'Plan 1: Cluster A is attic-pc layers 1–3 → ben layers 4–7.',
      'hall-imac joined.',
      'hall-imac is back.',
      'Cluster A stops; one other goes on.',
      'After 6,640 updates: validation loss 1.689, accuracy 50.8%.',
    ])
  })

  it('become sentences, but a name keeps its spelling', () => {
    expect(['averaging took 2 s', 'attic-pc is back', 'Done.', ''].map(asSentence)).toEqual([
      'Averaging took 2 s.',
      'attic-pc is back.',
      'Done.',
      'It did not work, and no reason was given.',
    ])
  })
})
