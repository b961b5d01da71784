/** A new plan in the middle of a run: what moves, from whom to whom, that it is the same there, and how long it takes. */
import { describe, expect, it } from 'vitest'
import { without } from '../../main/core/job/moving/parcels.ts'
import { lengthOf } from '../../main/core/job/moving/held.ts'
import type { LayerRange } from '../../shared/model/graph.ts'
import { layoutOfGraph, stateLayout } from '../../shared/model/layout.ts'
import type { Plan } from '../../shared/plan/plan.ts'
import type { WireMessage } from '../../shared/messages/wire.ts'
import { type Scenario, type ScenarioSettings, smallJob, startScenario } from './pool.ts'

const slow = { engineMs: [60, 90], flopsPerSecond: 1e6 } as const
const whole = 105_000
const spec = smallJob({ updates: 160 })
const layouts = layoutOfGraph(spec.graph)
/** The weights and the momentum. */
const vectors = 2

interface Stage {
  readonly layers: LayerRange
  readonly values: Float32Array
  readonly moments: readonly Float32Array[]
}
type Stages = ReadonlyMap<string, Stage>

interface Sent {
  readonly from: string
  readonly to: string
  readonly message: WireMessage
}

/** One change of plans as it was seen on the wire and in the engines. */
interface Change {
  /** Of every stage when it heard of the new plan, and when the new one began. */
  readonly before: Map<string, Promise<Stage>>
  readonly after: Map<string, Promise<Stage>>
  readonly sent: Sent[]
  drainedMs: number
  beganMs: number
}

function layersOf(plan: Plan): ReadonlyMap<string, LayerRange> {
  return new Map(
    plan.layout.clusters.flatMap(({ stages }) => stages.map(({ peer, layers }) => [peer, layers] as const)),
  )
}

async function look(scenario: Scenario, peer: string, layers: LayerRange): Promise<Stage> {
  const engine = scenario.engineOf(peer)
  const [{ values }, { moments }] = await Promise.all([engine.readState(layers), engine.readOptimizer()])
  return { layers, values, moments }
}

/** Watch the first change of plans of a scenario. */
async function watched(settings: ScenarioSettings): Promise<{ scenario: Scenario; change: Change }> {
  const change: Change = { before: new Map(), after: new Map(), sent: [], drainedMs: 0, beganMs: 0 }
  const begun: { scenario?: Scenario; first?: Plan; next?: Plan } = {}
  const noteAssignment = (to: string, proposal: Plan) => {
    begun.first ??= proposal
    const old = layersOf(begun.first).get(to)
    if (proposal.number > begun.first.number) begun.next = proposal
    const isNew = begun.next !== undefined && old !== undefined && !change.before.has(to)
    if (isNew) change.before.set(to, look(begun.scenario!, to, old))
  }
  const noteStart = (to: string, next: Plan, nowMs: number) => {
    const layers = layersOf(next).get(to)
    if (layers === undefined) return
    change.after.set(to, look(begun.scenario!, to, layers))
    change.beganMs = nowMs
  }
  const scenario = await startScenario({
    ...settings,
    tap(from, to, message, nowMs) {
      const { header } = message
      settings.tap?.(from, to, message, nowMs)
      if (header.type === 'stage-finished' && change.beganMs === 0) change.drainedMs = nowMs
      if (header.type === 'assignment') noteAssignment(to, header.proposal)
      const { next } = begun
      if (next === undefined || change.after.size === layersOf(next).size) return
      change.sent.push({ from, to, message })
      if (header.type === 'start' && header.plan >= next.number) noteStart(to, next, nowMs)
    },
  })
  begun.scenario = scenario
  return { scenario, change }
}

async function settled(looks: ReadonlyMap<string, Promise<Stage>>): Promise<Stages> {
  return new Map(await Promise.all([...looks].map(async ([peer, stage]) => [peer, await stage] as const)))
}

/** The numbers of one layer: weights and momentum. */
function ofLayer({ layers, values, moments }: Stage, layer: number): number[][] {
  const [before, run] = [stateLayout(layouts, [layers[0], layer]), stateLayout(layouts, [layer, layer + 1])]
  return [values, ...moments].map((vector) => [
    ...vector.subarray(before.trainedLength, before.trainedLength + run.trainedLength),
  ])
}

const holds = ({ layers: [from, to] }: Stage, layer: number) => layer >= from && layer < to

/** Bit for bit: the weights are everyone's, the momentum that of who had the layer, or of one of those who gave it. */
function expectTheSame(before: Stages, after: Stages): void {
  for (const [peer, stage] of after)
    for (let [layer] = stage.layers; layer < stage.layers[1]; layer++) {
      const holders = [...before].filter(([, one]) => holds(one, layer))
      const own = holders.find(([name]) => name === peer)
      const now = ofLayer(stage, layer)
      for (const [, one] of holders) expect(now[0]).toEqual(ofLayer(one, layer)[0])
      const possible =
        own === undefined ? holders.map(([, one]) => ofLayer(one, layer)) : [ofLayer(own[1], layer)]
      expect(possible).toContainEqual(now)
    }
}

const bytesOfRuns = (runs: readonly LayerRange[]) =>
  runs.reduce((sum, run) => sum + 4 * vectors * lengthOf(layouts, run), 0)
const bytesOf = ({ message }: Sent) => message.tensors.reduce((sum, { data }) => sum + data.byteLength, 0)
const states = ({ sent }: Change) => sent.filter(({ message }) => message.header.type === 'state-piece')

/** Each got exactly the layers of its new stage that it had not, and nothing went by way of the host. */
function expectOnlyWhatMoved(change: Change, before: Stages, after: Stages): void {
  for (const [peer, { layers }] of after) {
    const old = before.get(peer)?.layers
    const wanted = without(layers, old === undefined ? [] : [old])
    const got = states(change).filter(({ to }) => to === peer)
    expect(got.reduce((sum, one) => sum + bytesOf(one), 0)).toBe(bytesOfRuns(wanted))
  }
  expect(change.sent.filter(({ message }) => message.header.type === 'parameters')).toEqual([])
}

const said = ({ host }: Scenario) => host.participation.view().log.map(({ text }) => text)

function expectEachOnce({ taught }: Scenario, { samples }: { readonly samples: number }): void {
  for (const rows of taught.values()) expect(new Set(rows).size).toBe(rows.length)
  expect([...taught.values()].reduce((sum, rows) => sum + rows.length, 0)).toBe(samples)
}

async function finished(scenario: Scenario, updates: number): Promise<void> {
  const result = await scenario.end(scenario.host)
  expect(result).toMatchObject({ outcome: 'finished', updates, lostSamples: 0 })
  expectEachOnce(scenario, result)
}

describe('a new plan', () => {
  it('moves only what moved, straight, and every bit of it, when a member leaves', async () => {
    const memories = [whole, 36_500, 36_500, 36_500, 36_500]
    const { scenario, change } = await watched({ ...slow, memories, spec })
    await scenario.until(({ updates, phase }) => phase === 'training' && updates >= 4)
    const { plan } = scenario.host.participation.view()
    const leaver = scenario.members.find(({ name }) => layersOf(plan!).has(name))!
    leaver.participation.leave()
    await scenario.until(({ phase, plan: now }) => phase === 'training' && now!.number > plan!.number)
    await scenario.clock.advance(1000)
    const [before, after] = [await settled(change.before), await settled(change.after)]
    expect(after.size).toBe(4)
    expectTheSame(before, after)
    expectOnlyWhatMoved(change, before, after)
    await finished(scenario, 160)
  })

  it('brings a newcomer half of the model from who has it', async () => {
    const { scenario, change } = await watched({ ...slow, memories: [whole], spec })
    await scenario.until(({ updates }) => updates >= 4)
    await scenario.join('late', 52_500)
    await scenario.until(({ phase, plan }) => phase === 'training' && layersOf(plan!).has('late'))
    await scenario.clock.advance(1000)
    const [before, after] = [await settled(change.before), await settled(change.after)]
    expectTheSame(before, after)
    expectOnlyWhatMoved(change, before, after)
    expect(states(change).length).toBeGreaterThan(0)
    await finished(scenario, 160)
  })

  it('is in force as soon as the fullest line has sent its part', async () => {
    const uploadBytesPerSecond = 2000
    const memories = [whole, whole, whole]
    const { scenario, change } = await watched({ ...slow, memories, spec, uploadBytesPerSecond })
    await scenario.until(({ updates }) => updates >= 4)
    await scenario.join('late', whole)
    const isWhole = (plan: Plan) =>
      layersOf(plan).has('late') && plan.active.length === plan.layout.clusters.length
    await scenario.until(({ phase, plan }) => phase === 'training' && isWhole(plan!))
    await scenario.clock.advance(1000)
    const bySender = new Map<string, number>()
    for (const one of states(change)) bySender.set(one.from, (bySender.get(one.from) ?? 0) + bytesOf(one))
    const longest = Math.max(...bySender.values()) / uploadBytesPerSecond
    expect(longest).toBeGreaterThan(1)
    // Beside that: engines load, and some short messages pass.
    expect((change.beganMs - change.drainedMs) / 1000).toBeLessThan(longest + 1.5)
    await finished(scenario, 160)
  })
})

describe('a transfer', () => {
  /** Something happens when the newcomer has asked the first donor for its numbers. The host has none itself. */
  async function struck(strike: (donor: string, scenario: Scenario) => void) {
    const begun: { scenario?: Scenario; donor?: string } = {}
    const { scenario, change } = await watched({
      ...{ ...slow, memories: [500, whole, whole, whole], clusters: 3, spec },
      tap(from, to, { header }) {
        const isFirst = header.type === 'state-request' && from === 'late' && begun.donor === undefined
        if (!isFirst || begun.scenario === undefined) return
        begun.donor = to
        strike(to, begun.scenario)
      },
    })
    begun.scenario = scenario
    await scenario.until(({ updates }) => updates >= 4)
    const late = await scenario.join('late', whole)
    return { scenario, change, begun, late }
  }

  it('goes on with another donor when the one that gives is lost: nothing is taken back', async () => {
    const { scenario, change, begun } = await struck((donor, one) => void one.network.sever(donor))
    await scenario.until(({ phase, plan }) => phase === 'training' && layersOf(plan!).has('late'))
    await scenario.clock.advance(1000)
    expect(begun.donor).toMatch(/^pc-/)
    expect(said(scenario).filter((text) => text.startsWith('the training goes back'))).toEqual([])
    const [before, after] = [await settled(change.before), await settled(change.after)]
    expect([...after.keys()].sort()).toEqual(
      ['late', 'pc-1', 'pc-2', 'pc-3'].filter((name) => name !== begun.donor),
    )
    expectTheSame(before, after)
    expect(await scenario.end(scenario.host)).toMatchObject({ outcome: 'finished', updates: 160 })
  })

  it('goes on when the host is gone: whoever takes its part has it from its peers', async () => {
    const { scenario, change, begun, late } = await struck((_donor, one) => void one.network.sever('host'))
    const isAsked = async () => {
      while (begun.donor === undefined) await scenario.clock.sleep(1)
    }
    await scenario.clock.runUntil(isAsked())
    await scenario.clock.advance(10_000)
    const layers = layersOf(late.participation.view().plan!).get('late')!
    const stage = await scenario.clock.runUntil(look(scenario, 'late', layers))
    expectTheSame(await settled(change.before), new Map([['late', stage]]))
    expect(stage.values.some((value) => value !== 0)).toBe(true)
  })
})
