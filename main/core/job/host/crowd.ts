/** Agents of one machine rehearse together before the first plan: what work, calls and messages cost them side by side. */
import type { Header } from '../../../../shared/messages/wire.ts'
import type { CrowdCosts } from '../../planner/shared-processors.ts'
import { type Seconds, second } from '../../../../shared/units.ts'
import type { PeerId } from '../../../../shared/ids.ts'
import { median } from '../../../../shared/median.ts'
import { profileOf, withFlops } from '../../model/profile.ts'
import { callsPerMicroBatch } from '../../planner/cost.ts'
import { callsOfTinyPass } from '../call-cost.ts'
import { forwardsOf, runsWithin, samplesFor } from '../layer-speed.ts'
import type { StepAlone } from '../rehearsal.ts'
import { usualAccumulate } from '../run-pass.ts'
import type { HostState } from './host-state.ts'
import { sharedProcessors } from './shared-machine.ts'

/** Long enough that the code which all messages pass is mostly compiled, as it is after the first seconds of training. */
const rehearsedSeconds = 3
/** One that is not done by then is planned without. */
const answerWithinMs = 10 * second

/** Of the time of steps, so much is work, however dear calls are. */
const leastWork = 0.5

/** Once: it takes engines that hold no stage. */
export async function rehearseTogether(host: HostState, signal: AbortSignal): Promise<void> {
  const { roll, ports, hosted, planNumber, rehearsals, rehearsedParts } = host
  const shared = sharedProcessors(roll.willing, ports.links.self, hosted.processors)
  if (shared === undefined || planNumber > 0 || rehearsedParts.size > 0) return
  const peers = [...shared.peers]
  const common = { type: 'rehearse', seconds: rehearsedSeconds } as const
  for (const [index, peer] of peers.entries()) {
    const next = peers[(index + 1) % peers.length] ?? peer
    const { part, ...alone } = partFor(host, peer, index)
    rehearsedParts.set(peer, alone)
    void host.send(peer, { ...common, peer: next, part })
  }
  const isDone = () => peers.every((peer) => rehearsals.has(peer) || !roll.isPresent(peer))
  await host.watch.until(isDone, { signal, withinMs: answerWithinMs })
}

/** All parts of the model in turn, as large as its memory has room for, and what a step of it takes an engine alone. */
function partFor(
  { hosted, roll }: HostState,
  peer: PeerId,
  index: number,
): StepAlone & { readonly part: Header<'rehearse'>['part'] } {
  const { graph, recipe } = hosted.spec
  const profile = withFlops(profileOf(graph, recipe, { inFlight: 1, accumulate: 1 }), hosted.layerFlops)
  const { memoryBytes = 0, flopsPerSecond = Infinity, backend = '' } = roll.get(peer)?.device ?? {}
  const runs = runsWithin(memoryBytes, profile)
  const layers = runs[index % runs.length] ?? [0, graph.layers.length]
  const samples = samplesFor(layers, profile, flopsPerSecond)
  const forwards = forwardsOf(backend, profile)
  const flops = profile.layers
    .slice(...layers)
    .reduce((sum, { flopsPerSample }, at) => sum + flopsPerSample * (forwards[layers[0] + at] ?? 1), 0)
  return {
    part: { graph, recipe, layers: [layers[0], layers[1]], samples },
    stepSeconds: (samples * flops) / flopsPerSecond,
    calls: callsPerMicroBatch(
      { accumulate: recipe.schedule.accumulate ?? usualAccumulate },
      layers[1] === graph.layers.length,
    ),
  }
}

export interface ToldOfCrowd extends StepAlone {
  readonly told: Header<'rehearsed'>
}

/** What all told that rehearsed together; undefined: nobody could tell. */
export function crowdOf({ rehearsals, rehearsedParts }: HostState): CrowdCosts | undefined {
  const all = [...rehearsedParts].flatMap(([peer, alone]) => {
    const told = rehearsals.get(peer)
    return told === undefined ? [] : [{ told, ...alone }]
  })
  return crowdCosts(all)
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
  const callSeconds = passSeconds / callsOfTinyPass
  return {
    slower: slownessOf(all, callSeconds),
    callSeconds,
    exchangeSeconds: Math.max(0, bothSeconds - passSeconds),
  }
}

/** In the median of their looks, in times of what the same steps take alone; 1 where nobody made any. */
function slownessOf(all: readonly ToldOfCrowd[], callSeconds: Seconds): number {
  const looks = Math.min(...all.map(({ told }) => told.looks.length))
  const slowness = Array.from({ length: looks }, (_, look) => {
    const [used, alone] = all.reduce(
      ([used, alone], { told, stepSeconds, calls }) => {
        const { steps = 0, seconds = 0 } = told.looks[look] ?? {}
        const work = Math.max(leastWork * seconds, seconds - steps * calls * callSeconds)
        return [used + work, alone + steps * stepSeconds]
      },
      [0, 0],
    )
    return alone > 0 ? used / alone : Infinity
  })
  const usual = median(slowness)
  return Number.isFinite(usual) && usual > 0 ? usual : 1
}
