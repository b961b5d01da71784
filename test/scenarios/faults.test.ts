/**
 * Every kind of fault at every kind of moment: the n-th message of a type sets it off, at one of the two it travels
 * between. `npm run scenarios` tries ten times as many; `FAULT_SEED=42` one, and prints its tale; FAULT_FROM=1000 FAULT_SEEDS=1500
 * those in between.
 */
import { describe, expect, it } from 'vitest'
import type { WireHeader } from '../../shared/messages/wire.ts'
import { type Rng, createRng, seedFrom } from '../../shared/random.ts'
import { minute, second } from '../../shared/units.ts'
import { type Member, type Scenario, type ScenarioSettings, smallJob, startScenario } from './pool.ts'

const one = process.env['FAULT_SEED']
const usual = process.env['npm_lifecycle_event'] === 'scenarios' ? 10_000 : 1000
const many = Number(process.env['FAULT_SEEDS'] ?? usual)
const begin = Number(process.env['FAULT_FROM'] ?? 0)
/** In a test of its own each, so that a failing run names them and the event loop gets its turn. */
const perTest = 50

/** Moments of a run, each by a message that only then travels. */
const moments = [
  ...['measure-links', 'links', 'assignment', 'parameters-request', 'parameters', 'stage-ready', 'start'],
  ...[
    'activation',
    'gradient',
    'judged',
    'round-ready',
    'reduce',
    'gather',
    'round-whole',
    'progress',
    'validate',
    'validated',
  ],
  ...['finish', 'stage-finished', 'replan', 'job-news', 'end-of-stream'],
  ...['state-request', 'state-piece', 'state-taken', 'stage-report'],
] as const
type Moment = (typeof moments)[number]

const momentOf = (header: WireHeader): string => (header.type === 'chunk' ? header.phase : header.type)

interface Stroke {
  readonly scenario: Scenario
  readonly victim: string
  readonly other: string
  readonly rng: Rng
  readonly memories: Map<string, number>
}

/** Something happens to the victim at once; the promise-maker repairs it afterwards. */
interface Fault {
  /** All the while the clocks of the PCs are wrong, each in its own way. */
  readonly skewed?: true
  readonly strike: (stroke: Stroke) => void
  readonly repair?: (stroke: Stroke) => Promise<void>
  /** The message that set it off comes again, so much later. */
  readonly againMs?: number
}

const memberOf = ({ scenario, victim }: Stroke): Member | undefined =>
  victim === 'host' ? scenario.host : scenario.members.find(({ name }) => name === victim)

const seconds = ({ rng }: Stroke, least: number, most: number) =>
  (least + rng.next() * (most - least)) * second

async function comeBack(stroke: Stroke): Promise<void> {
  const { scenario, victim, memories } = stroke
  if (victim === 'host') return
  await scenario.comeBack(victim, memories.get(victim)!).catch((error: unknown) => {
    // Nobody is let in at the very end, or hears an answer after it.
    if (!/about to end|no answer/.test(String(error))) throw error
  })
}

const faults: Readonly<Record<string, Fault>> = {
  die: {
    strike({ scenario, victim }) {
      if (victim !== 'host') void scenario.network.sever(victim)
    },
    async repair(stroke) {
      await stroke.scenario.clock.advance(seconds(stroke, 0, 20))
      await comeBack(stroke)
    },
  },
  freeze: {
    strike(stroke) {
      const frozenUntilMs = stroke.scenario.clock.now() + seconds(stroke, 0.5, 8)
      stroke.scenario.network.hinder(stroke.victim, { frozenUntilMs })
    },
  },
  slow: {
    strike: ({ scenario, victim }) => {
      scenario.network.hinder(victim, { slowerMs: 150 })
    },
    async repair({ scenario, victim }) {
      await scenario.clock.advance(6 * second)
      scenario.network.hinder(victim, {})
    },
  },
  part: {
    strike({ scenario, victim, other }) {
      if (victim !== 'host' && other !== 'host') void scenario.network.part(victim, other)
    },
    async repair(stroke) {
      await stroke.scenario.clock.advance(seconds(stroke, 1, 40))
      stroke.scenario.network.mend()
      await stroke.scenario.clock.advance(20 * second)
      // Whoever gave up on its neighbour has left; its agent comes back as after any loss.
      for (const { name, participation } of stroke.scenario.members)
        if (participation.view().result?.outcome === 'stopped') await comeBack({ ...stroke, victim: name })
    },
  },
  pause: {
    strike: (stroke) => memberOf(stroke)?.participation.pause(),
    async repair(stroke) {
      await stroke.scenario.clock.advance(seconds(stroke, 0, 40))
      memberOf(stroke)?.participation.resume()
    },
  },
  leave: {
    strike(stroke) {
      if (stroke.victim !== 'host') memberOf(stroke)?.participation.leave()
    },
    async repair(stroke) {
      await stroke.scenario.clock.advance(seconds(stroke, 0, 70))
      const gone = memberOf(stroke)?.participation.view().result?.outcome === 'stopped'
      if (gone && stroke.victim !== 'host') await comeBack(stroke)
    },
  },
  // No honest peer sends these: they are refused, and change nothing.
  double: { strike: () => undefined, againMs: 0 },
  stale: { strike: () => undefined, againMs: 2 * second },
  skew: { strike: () => undefined, skewed: true },
}
const unharmed: readonly string[] = ['freeze', 'slow', 'double', 'stale', 'pause', 'leave', 'skew']

/** Before the fault: a newcomer has begun a new plan in the middle of the run, or has not. */
const preludes = ['none', 'none', 'none', 'newcomer', 'slow newcomer'] as const

/** Nobody stops a run for a newcomer that is over in ten seconds. */
const runs = {
  short: { updates: 8, engineMs: [10, 30] },
  long: { updates: 14, engineMs: [150, 250] },
} as const

interface Plot {
  readonly prelude: (typeof preludes)[number]
  readonly moment: Moment
  readonly fault: string
  readonly nth: number
  readonly atReceiver: boolean
}

function plotOf(seed: number, rng: Rng): Plot {
  const names = Object.keys(faults)
  return {
    moment: moments[seed % moments.length]!,
    prelude: preludes[Math.floor(seed / moments.length / names.length) % preludes.length]!,
    fault: names[Math.floor(seed / moments.length) % names.length]!,
    nth: 1 + Math.floor(rng.next() * 4),
    atReceiver: rng.next() < 0.5,
  }
}

/** What a person reads when it went wrong. */
function taleOf(seed: number, plot: Plot, scenario: Scenario): string {
  const { log, text, phase } = scenario.host.participation.view()
  return [
    `FAULT_SEED=${seed}: ${plot.prelude === 'none' ? '' : `after a ${plot.prelude}, `}${plot.fault} at the ${plot.atReceiver ? 'receiver' : 'sender'} of ${plot.moment} number ${plot.nth}`,
    ...log.map((line) => `${Math.round(line.atMs)} ms: ${line.text}`),
    `${Math.round(scenario.clock.now())} ms: ${phase}: ${text}`,
    ...scenario.members.map(({ name, participation }) => `${name}: ${participation.view().text}`),
  ].join('\n')
}

async function advanceUntil({ clock }: Scenario, condition: () => boolean, step: number): Promise<void> {
  while (!condition() && clock.now() < 20 * minute) await clock.advance(step)
}

/** Some begin hours apart, and a second of one is up to 1.25 of another. */
const skewsOf = (seed: number) => (name: string) => {
  const rng = createRng(seedFrom(seed, 'skew', name))
  return { aheadMs: Math.round(rng.next() * 4 * 60 * minute), rate: 0.9 + 0.2 * rng.next() }
}

/** It takes half of the model; a slow one needs so long that the others begin before. */
async function prelude(scenario: Scenario, plot: Plot, memories: Map<string, number>): Promise<void> {
  if (plot.prelude === 'none') return
  const bytes = 52_500
  await scenario.until(({ updates, result }) => updates >= 2 || result !== null)
  memories.set('late', bytes)
  await scenario.join('late', bytes)
  if (plot.prelude === 'newcomer') return
  const engine = scenario.engineOf('late')
  const load = engine.load.bind(engine)
  engine.load = async (stage) => {
    await scenario.clock.sleep(3 * second)
    return load(stage)
  }
}

async function play(seed: number): Promise<void> {
  const rng = createRng(seed)
  const plot = plotOf(seed, rng)
  const fault = faults[plot.fault]!
  const { updates, engineMs } = plot.prelude === 'none' ? runs.short : runs.long
  const sizes = [52_500, 52_500, 52_500, 52_500, 105_000].slice(0, 2 + Math.floor(rng.next() * 4))
  let left = plot.nth
  let struck: Stroke | undefined
  const begun: { scenario?: Scenario } = {}
  const memories = new Map(sizes.slice(1).map((bytes, index) => [`pc-${index + 1}`, bytes]))
  const isMoment = (from: string, to: string, header: WireHeader) =>
    begun.scenario !== undefined && from !== to && momentOf(header) === plot.moment && --left === 0
  const settings: ScenarioSettings = {
    ...{ memories: sizes, seed, flopsPerSecond: 1e6, engineMs },
    spec: smallJob({ updates, everyUpdates: 4 }),
    ...(fault.skewed === undefined ? {} : { skewOf: skewsOf(seed) }),
    again(from, to, { header }) {
      if (!isMoment(from, to, header)) return undefined
      const [victim, other] = plot.atReceiver ? [to, from] : [from, to]
      struck = { scenario: begun.scenario!, victim, other, rng, memories }
      fault.strike(struck)
      return fault.againMs
    },
  }
  const scenario = await startScenario(settings)
  await prelude(scenario, plot, memories)
  begun.scenario = scenario
  const ended = () => scenario.host.participation.view().result !== null
  await advanceUntil(scenario, () => ended() || struck !== undefined, 100)
  if (struck !== undefined && !ended()) await fault.repair?.(struck)
  await advanceUntil(scenario, ended, second)
  const tale = taleOf(seed, plot, scenario)
  if (one !== undefined) console.log(tale)
  const { result } = scenario.host.participation.view()
  expect(result, tale).toMatchObject({ outcome: 'finished', updates })
  expect(scenario.savedModels, tale).toHaveLength(1)
  expect(scenario.savedModels[0]!.state.every(Number.isFinite), tale).toBe(true)
  if (unharmed.includes(plot.fault)) expectEachOnce(scenario, tale)
}

/** Nobody was lost: each row that a leaf was given is in the model, and none twice in an epoch. */
function expectEachOnce(scenario: Scenario, tale: string): void {
  const { lostSamples, samples } = scenario.host.participation.view().result!
  expect(lostSamples, tale).toBe(0)
  for (const rows of scenario.taught.values()) expect(new Set(rows).size, tale).toBe(rows.length)
  expect(
    [...scenario.taught.values()].reduce((sum, rows) => sum + rows.length, 0),
    tale,
  ).toBe(samples)
}

describe('a pool that meets a fault', () => {
  const first =
    one === undefined
      ? Array.from({ length: Math.ceil((many - begin) / perTest) }, (_, k) => begin + k * perTest)
      : []
  it.each(first)('trains to the end, whatever and whenever (seeds from %i)', async (from) => {
    for (let seed = from; seed < Math.min(many, from + perTest); seed++) await play(seed)
  })
  it.runIf(one !== undefined)('trains to the end with this seed', () => play(Number(one)))
})
