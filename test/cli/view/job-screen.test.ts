import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { JobView } from '../../../shared/messages/control.ts'
import { displayWidth } from '../../../main/cli/view/columns.ts'
import { jobScreen } from '../../../main/cli/view/job-screen.ts'
import { colourPaint, plainPaint } from '../../../main/cli/view/paint.ts'
import { exampleJob, exampleMember } from '../example-job.ts'

const plain = { columns: 80, rows: 30, paint: plainPaint, hint: 'Ctrl-C finishes early and keeps the model' }
/** Braille is for eyes; its exact dots are the chart's own tests. */
const withoutChart = (text: string): string => text.replaceAll(/^.* ┤ .*\n/gm, '')

const hostile = {
  displayName: `\u001b]0;owned\u0007\u202egnol yrev a ${'名'.repeat(40)}\n\u001b[2J`,
  reason: `\r\u001b[1A${'x'.repeat(300)}`,
}

describe('the live view of a job', () => {
  it('shows progress, loss, clusters as rows of stages, and who is idle, in 80 columns', () => {
    expect(withoutChart(jobScreen(exampleJob, plain))).toBe(
      [
        'digits                                                           host · training',
        '━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌',
        '142 of 200 updates, 71%                                             12–15 s left',
        'averaging round 14 waits for cluster 2',
        '',
        'loss 0.268  ·  validation 0.310, 91.2%  ·  1,152 samples/s  ·  9,088 samples',
        '',
        'Cluster A  612 samples/s',
        '  laptop             █████░░░░░░░ layers 1–4     training    83% busy  12.3 MiB',
        '  old-pc             ░░░░░███████ layers 5–9     training    64% busy  12.3 MiB',
        'Cluster B  does not train at present',
        '  desk               ███░░░░░░░░░ layers 1–2     training    83% busy  12.3 MiB',
        '  tower              ░░░█████████ layers 3–9     lost      sent nothing for 30 s',
        'in no cluster',
        '  phone              idle      its speed was measured as 0',
        '',
        'Ctrl-C finishes early and keeps the model',
      ].join('\n'),
    )
  })

  it.each<[JobView['phase'], string]>([
    ['draining', 'ben joined; what is in flight finishes before the new plan'],
    ['planning', 'searching for the best plan'],
    ['preparing', 'engines load, data and weights travel'],
    ['paused', 'waiting for ben to come back'],
  ])('keeps what was made while the run is %s for a new plan', (phase, text) => {
    const screen = jobScreen({ ...exampleJob, phase, text, secondsLeft: null }, plain)
    const [head, , made, said] = screen.split('\n').map((line) => line.trimEnd())
    expect([head?.endsWith(`host · ${phase}`), made, said]).toEqual([true, '142 of 200 updates, 71%', text])
  })

  it('says stalled, and never that all is done, while nothing moves', () => {
    const text = 'stalled: laptop: waits for activations of desk'
    const stalled = { ...exampleJob, updates: 19_999, targetUpdates: 20_000, secondsLeft: null }
    const screen = jobScreen({ ...stalled, text, stalledForSeconds: 25 }, plain)
    const [, , made, said] = screen.split('\n').map((line) => line.trimEnd())
    expect([made?.replaceAll(/ {2,}/g, ' | '), said]).toEqual([
      '19,999 of 20,000 updates, 99% | stalled for 25 s',
      text,
    ])
  })

  it('lists the peers while it gathers', () => {
    const gathering: JobView = {
      ...exampleJob,
      phase: 'gathering',
      text: 'waits for 3 more peers',
      plan: null,
      members: [exampleMember('laptop', { state: 'joined' })],
      trainingCurve: [],
      validationCurve: [],
      updates: 0,
      samples: 0,
      samplesPerSecond: 0,
    }
    expect(jobScreen(gathering, { ...plain, hint: '' })).toBe(
      [
        'digits                                                          host · gathering',
        'waits for 3 more peers',
        '',
        'peers',
        '  laptop             joined',
      ].join('\n'),
    )
  })

  it('says the same with and without colour', () => {
    const coloured = jobScreen(exampleJob, { ...plain, paint: colourPaint })
    expect(coloured).not.toBe(jobScreen(exampleJob, plain))
    expect(stripVTControlCharacters(coloured)).toBe(jobScreen(exampleJob, plain))
  })

  it.each([40, 60, 80, 110])(
    'fits %i columns and its rows, however many peers and whatever names they chose',
    (columns) => {
      const members = Array.from({ length: 200 }, (_, index) => exampleMember(`p${index}`, { ...hostile }))
      const strange: JobView = {
        ...exampleJob,
        name: '長'.repeat(80),
        text: hostile.reason,
        members: [exampleMember('laptop', hostile), ...members],
      }
      for (const rows of [16, 24, 50]) {
        const lines = jobScreen(strange, { ...plain, columns, rows }).split('\n')
        expect(lines.length).toBeLessThan(rows)
        const widest = Math.max(...lines.map(displayWidth))
        expect(widest).toBeLessThanOrEqual(columns)
        expect(lines.join('')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
      }
    },
  )
})
