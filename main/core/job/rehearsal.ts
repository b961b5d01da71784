/**
 * What work, calls and messages cost the processor where several agents share one. All of them at once train a part of the
 * model each, then make calls of hardly any work, then the same with a small message to and fro after each. Side by side
 * all cost more than alone: whoever gets its turn finds the processor's caches full of the others' data.
 */
import type { PeerId } from '../../../shared/ids.ts'
import type { Header } from '../../../shared/messages/wire.ts'
import { type Millis, type Seconds, second } from '../../../shared/units.ts'
import { AbortedError } from '../../../shared/errors.ts'
import type { Clock, StageEngine } from '../ports.ts'
import { loadTinyStage, tinyPass } from './call-cost.ts'
import type { LinkProbes } from './link-probes.ts'
import { loadRun, type ModelRun, type PassEngine, usualAccumulate } from './run-pass.ts'

export interface RehearsalPorts {
  /** Has no stage yet, and has none afterwards. */
  readonly engine: StageEngine
  readonly clock: Clock
  /** Of all threads of this program, so far. */
  readonly processorMs: () => Millis
  readonly probes: LinkProbes
}

export interface Rehearsal {
  /** The neighbour to exchange messages with. */
  readonly peer: PeerId
  readonly plan: number
  /** It trains these layers, and forgets them. */
  readonly part: ModelRun
  readonly seconds: number
  readonly signal: AbortSignal
  /** The engine is wanted for something else. */
  readonly isOver: () => boolean
}

/** What a step of a part takes an engine that has the machine for itself. */
export interface StepAlone {
  /** Without its calls. */
  readonly stepSeconds: Seconds
  readonly calls: number
}

export type Rehearsed = Omit<Header<'rehearsed'>, 'type' | 'job' | 'plan'>

const notRehearsed: Rehearsed = {
  ...{ looks: [], passes: 0, passSeconds: 0 },
  ...{ exchanges: 0, exchangeSeconds: 0 },
}

/**
 * What is done until which share of the time. Steps come three times: a processor that others use, too, is slow for a
 * second or two, and the median of the looks counts.
 */
const agenda = [
  ['steps', 0.12],
  ['passes', 0.28],
  ['steps', 0.38],
  ['exchanges', 0.88],
  ['steps', 1],
] as const
/** The first steps fill caches. */
const warmUp = 3

interface Counted {
  readonly count: number
  /** Of the processor. */
  readonly seconds: Seconds
}
const none: Counted = { count: 0, seconds: 0 }

/** @throws what the engine throws */
export async function rehearse(ports: RehearsalPorts, rehearsal: Rehearsal): Promise<Rehearsed> {
  const { clock } = ports
  const { seconds, isOver } = rehearsal
  const engine = unlessWanted(ports.engine, isOver)
  const beganMs = clock.now()
  const found = { steps: [] as Counted[], passes: [] as Counted[], exchanges: [] as Counted[] }
  try {
    for (const [what, share] of agenda) {
      const deed = await deedOf(what, { ...ports, engine }, rehearsal)
      found[what].push(await repeat(ports, deed, beganMs + share * seconds * second))
      await engine.unload()
    }
    const [passes = none, exchanges = none] = [...found.passes, ...found.exchanges]
    return {
      looks: found.steps.map(({ count, seconds }) => ({ steps: count, seconds })),
      ...{ passes: passes.count, passSeconds: passes.seconds },
      ...{ exchanges: exchanges.count, exchangeSeconds: exchanges.seconds },
    }
  } finally {
    if (!isOver()) await engine.unload()
  }
}

/** A stage that is given out meanwhile has the engine from its first call on: none of ours comes after it. */
function unlessWanted(engine: StageEngine, isOver: () => boolean): PassEngine {
  const guarded =
    <A extends unknown[], R>(call: (...of: A) => Promise<R>) =>
    (...of: A): Promise<R> =>
      isOver() ? Promise.reject(new AbortedError('the engine is wanted for a stage')) : call(...of)
  return {
    load: guarded((setup) => engine.load(setup)),
    writeState: guarded((state) => engine.writeState(state)),
    forward: guarded((request) => engine.forward(request)),
    forwardLoss: guarded((request) => engine.forwardLoss(request)),
    backward: guarded((...request) => engine.backward(...request)),
    update: guarded(() => engine.update()),
    unload: guarded(() => engine.unload()),
  }
}

/** What is repeated until it says false. The engine has the stage for it then. */
async function deedOf(
  what: (typeof agenda)[number][0],
  { engine, probes }: { readonly engine: PassEngine; readonly probes: LinkProbes },
  { peer, plan, part, signal }: Rehearsal,
): Promise<() => Promise<boolean>> {
  if (what === 'steps') {
    const step = await stepsOf(engine, part)
    for (let turn = 0; turn < warmUp; turn++) await step()
    return async () => {
      await step()
      return true
    }
  }
  await loadTinyStage(engine)
  let microBatch = 0
  const pass = async () => {
    await tinyPass(engine, microBatch++)
    return true
  }
  return what === 'passes' ? pass : async () => (await pass()) && (await probes.exchange(peer, plan, signal))
}

/** A micro-batch, and its part of an update. */
async function stepsOf(engine: PassEngine, part: ModelRun): Promise<() => Promise<void>> {
  const { accumulate = usualAccumulate } = part.recipe.schedule
  const pass = await loadRun(engine, part)
  let made = 0
  return async () => {
    await pass(made++)
    if (made % accumulate === 0) await engine.update()
  }
}

/** Nothing of it where nobody can tell what the processor did, or the engine fails or is wanted. Never rejects. */
export async function rehearseIfAble(
  { processorMs, ...ports }: Omit<RehearsalPorts, 'processorMs'> & Partial<RehearsalPorts>,
  rehearsal: Rehearsal,
): Promise<Rehearsed> {
  if (processorMs === undefined) return notRehearsed
  return rehearse({ ...ports, processorMs }, rehearsal).catch(() => notRehearsed)
}

/** Until the moment, or until it fails. Seconds are the processor's. */
async function repeat(
  { clock, processorMs }: RehearsalPorts,
  deed: () => Promise<boolean>,
  untilMs: Millis,
): Promise<Counted> {
  const before = processorMs()
  let count = 0
  while (clock.now() < untilMs && (await deed())) count++
  return { count, seconds: Math.max(0, processorMs() - before) / second }
}
