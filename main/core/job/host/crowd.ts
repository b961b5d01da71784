/** Agents of one machine rehearse together before the first plan: what calls and messages cost them side by side. */
import type { Header } from '../../../../shared/messages/wire.ts'
import type { CrowdCosts } from '../../planner/shared-processors.ts'
import { type FlopsPerSecond, second } from '../../../../shared/units.ts'
import { flopsOfStep } from '../benchmark.ts'
import { callsOfTinyPass } from '../call-cost.ts'
import type { HostState } from './host-state.ts'
import { sharedProcessors } from './shared-machine.ts'

/** Long enough that the code which all messages pass is mostly compiled, as it is after the first seconds of training. */
const rehearsedSeconds = 3
/** One that is not done by then is planned without. */
const answerWithinMs = 10 * second

/** Once: it takes engines that hold no stage. */
export async function rehearseTogether(host: HostState, signal: AbortSignal): Promise<void> {
  const { roll, ports, hosted, planNumber, rehearsals } = host
  const shared = sharedProcessors(roll.willing, ports.links.self, hosted.processors)
  if (shared === undefined || planNumber > 0 || rehearsals.size > 0) return
  const peers = [...shared.peers]
  for (const [index, peer] of peers.entries()) {
    const next = peers[(index + 1) % peers.length] ?? peer
    void host.send(peer, { type: 'rehearse', peer: next, seconds: rehearsedSeconds })
  }
  const isDone = () => peers.every((peer) => rehearsals.has(peer) || !roll.isPresent(peer))
  await host.watch.until(isDone, { signal, withinMs: answerWithinMs })
}

/** What one of them told, and how fast its engine is alone. */
export interface ToldOfCrowd {
  readonly told: Header<'rehearsed'>
  readonly flopsPerSecond: FlopsPerSecond
}

/** What all of them used, over what all of them did; undefined: nobody could tell. */
export function crowdCosts(all: readonly ToldOfCrowd[]): CrowdCosts | undefined {
  const sum = (of: (one: Header<'rehearsed'>) => number) =>
    all.reduce((total, { told }) => total + of(told), 0)
  const passes = sum((one) => one.passes)
  const exchanges = sum((one) => one.exchanges)
  if (passes === 0 || exchanges === 0) return undefined
  const passSeconds = sum((one) => one.passSeconds) / passes
  const bothSeconds = sum((one) => one.exchangeSeconds) / exchanges
  return {
    slower: slownessOf(all),
    callSeconds: passSeconds / callsOfTinyPass,
    exchangeSeconds: Math.max(0, bothSeconds - passSeconds),
  }
}

/** In their quickest look, in times of what the same steps take alone; 1 where nobody made any. */
function slownessOf(all: readonly ToldOfCrowd[]): number {
  const looks = Math.min(...all.map(({ told }) => told.looks.length))
  const slowness = Array.from({ length: looks }, (_, look) => {
    const [used, alone] = all.reduce(
      ([used, alone], { told, flopsPerSecond }) => {
        const { steps = 0, seconds = 0 } = told.looks[look] ?? {}
        return [used + seconds, alone + (steps * flopsOfStep) / flopsPerSecond]
      },
      [0, 0],
    )
    return alone > 0 ? used / alone : Infinity
  })
  const quickest = Math.min(...slowness)
  return Number.isFinite(quickest) && quickest > 0 ? quickest : 1
}
