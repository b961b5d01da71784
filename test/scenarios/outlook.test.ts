/** What a stranger with an invite is told of the pool's prospects: the planner's own figures. */
import { describe, expect, it } from 'vitest'
import { requestSummary } from '../../main/core/job/admission.ts'
import type { LentPc } from '../../main/core/job/join-estimate.ts'
import { wholeModel } from '../../main/core/job/job-summary.ts'
import { layoutOfJob } from '../../main/core/job/job-layout.ts'
import { planInForce } from '../../main/core/job/plan-in-force.ts'
import type { Outlook } from '../../shared/messages/cards.ts'
import { InvariantError } from '../../shared/errors.ts'
import { second } from '../../shared/units.ts'
import { job, type Scenario, type ScenarioSettings, smallJob, startScenario } from './pool.ts'

const lends: LentPc = {
  ...{ memoryBytes: 200_000, flopsPerSecond: 1e7 },
  ...{ uploadBytesPerSecond: 0, downloadBytesPerSecond: 0 },
}
const spec = smallJob({ updates: 300 })

/** Asks under another name each time: nobody asks twice under one. */
function asking(scenario: Scenario, name: string, guest: LentPc = lends) {
  const links = scenario.network.linksOf(name)
  const signal = new AbortController().signal
  return requestSummary(
    { links, clock: scenario.clock },
    { host: 'host', job, secret: 'secret', lends: guest, signal },
  )
}

async function outlookOf(scenario: Scenario, name = 'stranger', guest = lends): Promise<Outlook> {
  const { outlook } = await scenario.clock.runUntil(asking(scenario, name, guest))
  return outlook!
}

/** One PC alone: no line limits it. */
function alone() {
  const { graph, recipe, seed } = spec
  const peer = { id: 'x', memoryBytes: 200_000, flopsPerSecond }
  const pool = {
    peers: [{ ...peer, uploadBytesPerSecond: 1e9, downloadBytesPerSecond: 1e9 }],
    links: [],
    defaultLatencySeconds: 0.02,
  }
  const layout = layoutOfJob({ pool, graph, recipe, seed, clusters: undefined })
  if ('feasible' in layout) throw new InvariantError(layout.reason)
  const { accumulate } = planInForce(layout, recipe, 1)
  const rate = layout.samplesPerSecond
  const samplesAnUpdate = accumulate * recipe.schedule.microBatch
  return {
    rate,
    seconds: (300 * samplesAnUpdate) / rate,
    samplesBetweenAverages: samplesAnUpdate * recipe.sync.averageEveryUpdates,
  }
}

/** Slow enough that no line matters at home. */
const flopsPerSecond = 1e7
const waiting = { spec, memories: [200_000], awaits: 3, flopsPerSecond }

describe('the outlook of a pool', () => {
  it('is that of its plan, as long as nobody has joined: the host alone, then with one and two more', async () => {
    const scenario = await startScenario(waiting)
    const { now, withYou, withOneMore, uploadBytesPerSecond } = await outlookOf(scenario)
    const { rate, seconds, samplesBetweenAverages } = alone()
    // What is guessed before three jobs have ended: 5 % sooner, 30 % later.
    expect(now!.samplesPerSecond[0]).toBeCloseTo(rate / 1.3)
    expect(now!.samplesPerSecond[1]).toBeCloseTo(rate / 0.95)
    expect(now!.seconds[0]).toBeCloseTo(0.95 * seconds)
    expect(now!.seconds[1]).toBeCloseTo(1.3 * seconds)
    // Copies of a small model in one home: each brings what it computes, less the averages.
    expect(withYou!.samplesPerSecond[1] / now!.samplesPerSecond[1]).toBeGreaterThan(1.5)
    expect(withOneMore!.samplesPerSecond[1] / now!.samplesPerSecond[1]).toBeGreaterThan(2)
    expect(withOneMore!.samplesPerSecond[1] / now!.samplesPerSecond[1]).toBeLessThanOrEqual(3)
    // Each of two copies passes on half of the model twice a round.
    const { parameters } = wholeModel(spec.graph, spec.recipe)
    const roundsPerSecond = (0.95 * withYou!.samplesPerSecond[1]) / 2 / samplesBetweenAverages
    expect(uploadBytesPerSecond[1]).toBeCloseTo(roundsPerSecond * 4 * parameters)
  })

  it('is none where the model does not fit, until enough have come', async () => {
    const scenario = await startScenario({ ...waiting, memories: [70_000] })
    const small = { ...lends, memoryBytes: 70_000 }
    const { now, withYou, withOneMore } = await outlookOf(scenario, 'stranger', small)
    expect([now, withYou, withOneMore].map((prospect) => prospect !== null)).toEqual([false, true, true])
  })

  it('knows how fast the pool really trains, and what is left to do', async () => {
    const scenario = await startScenario({ ...waiting, spec: smallJob({ updates: 6000 }), awaits: 1 })
    await scenario.until(({ updates }) => updates >= 3000)
    const { now, withYou } = await outlookOf(scenario)
    const { updates, samplesPerSecond, plan } = scenario.host.participation.view()
    expect(now!.samplesPerSecond[0] / (samplesPerSecond / 1.3)).toBeCloseTo(1, 2)
    const left = (6000 - updates) * plan!.accumulate * spec.recipe.schedule.microBatch
    expect(now!.seconds[1] / ((1.3 * left) / samplesPerSecond)).toBeCloseTo(1, 1)
    expect(withYou!.samplesPerSecond[1]).toBeGreaterThan(now!.samplesPerSecond[1])
    // One for which the training would not be stopped stands by.
    const idle = await outlookOf(scenario, 'another', { ...lends, flopsPerSecond: 0.05e7 })
    expect(idle.withYou).toEqual(idle.now)
    expect(idle.withOneMore).toEqual(idle.now)
    expect(idle.uploadBytesPerSecond).toEqual([0, 0])
  })

  it('is reckoned for four at a time, for a quarter of a minute at most; all the others hear the rest', async () => {
    const isEndless: ScenarioSettings['isEndless'] = ({ peers }) => peers.some(({ id }) => id === 'guest-1')
    const scenario = await startScenario({ ...waiting, isEndless })
    const began = scenario.clock.now()
    const waited = (name: string) =>
      asking(scenario, name).then(({ outlook }) => ({ outlook, ms: scenario.clock.now() - began }))
    const heard = await scenario.clock.runUntil(Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(waited)))
    expect(heard.map(({ outlook }) => outlook)).toEqual(heard.map(() => null))
    expect(heard.filter(({ ms }) => ms < second)).toHaveLength(2)
    expect(heard.filter(({ ms }) => ms >= 15 * second && ms < 16 * second)).toHaveLength(4)
    expect((await scenario.end(scenario.host)).outcome).toBe('finished')
  })
})
