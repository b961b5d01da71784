/**
 * What calls and messages cost the processor where several agents share one. All of them at once make calls of hardly any
 * work, then the same with a small message to and fro after each. Side by side both cost more than alone: whoever gets
 * its turn finds the processor's caches full of the others' data.
 */
import type { PeerId } from '../../../shared/ids.ts'
import type { Header } from '../../../shared/messages/wire.ts'
import { type Millis, second } from '../../../shared/units.ts'
import type { Clock, StageEngine } from '../ports.ts'
import { loadTinyStage, tinyPass } from './call-cost.ts'
import type { LinkProbes } from './link-probes.ts'

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
  readonly seconds: number
  readonly signal: AbortSignal
  /** The engine is wanted for something else. */
  readonly isOver: () => boolean
}

export type Rehearsed = Pick<Header<'rehearsed'>, 'passes' | 'passSeconds' | 'exchanges' | 'exchangeSeconds'>

const notRehearsed: Rehearsed = { passes: 0, passSeconds: 0, exchanges: 0, exchangeSeconds: 0 }

/** Of the time, the calls alone. */
const shareOfPasses = 0.25

/** @throws what the engine throws */
export async function rehearse(ports: RehearsalPorts, rehearsal: Rehearsal): Promise<Rehearsed> {
  const { engine, clock, probes } = ports
  const { peer, plan, seconds, signal, isOver } = rehearsal
  const beganMs = clock.now()
  try {
    await loadTinyStage(engine)
    let microBatch = 0
    const pass = async () => {
      await tinyPass(engine, microBatch++)
      return !isOver()
    }
    const untilMs = (share: number) => beganMs + share * seconds * second
    const passes = await repeat(ports, pass, untilMs(shareOfPasses))
    const both = async () => (await pass()) && (await probes.exchange(peer, plan, signal))
    const exchanges = await repeat(ports, both, untilMs(1))
    return {
      ...{ passes: passes.count, passSeconds: passes.seconds },
      ...{ exchanges: exchanges.count, exchangeSeconds: exchanges.seconds },
    }
  } finally {
    if (!isOver()) await engine.unload()
  }
}

/** Nothing of both where nobody can tell what the processor did, or the engine fails. Never rejects. */
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
): Promise<{ readonly count: number; readonly seconds: number }> {
  const before = processorMs()
  let count = 0
  while (clock.now() < untilMs && (await deed())) count++
  return { count, seconds: Math.max(0, processorMs() - before) / second }
}
