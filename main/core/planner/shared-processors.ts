/**
 * Agents of one machine, as in a demo: they compute on the same processors, all at once. What two of them send to each
 * other these processors write, encrypt, copy and read as well: the way's time is theirs.
 */
import { bytesShare, type Codec } from '../../../shared/codec/codec.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import type { Seconds } from '../../../shared/units.ts'
import { callsPerMicroBatch, type CostModel, type Stage, transferSeconds } from './cost.ts'
import { ringsOf } from './rings.ts'

/** The processor's seconds of agents that all work at once on the same machine. */
export interface CrowdCosts {
  /** Of an engine's work, in times of what it takes alone. */
  readonly slower: number
  /** Of a call of an engine that computes hardly anything. */
  readonly callSeconds: Seconds
  /** Of a small message to and fro, at both ends together. */
  readonly exchangeSeconds: Seconds
}

/** Peers whose engines share a machine. */
export interface SharedProcessors {
  readonly peers: ReadonlySet<string>
  /** Engines that compute at full speed at once. */
  readonly processors: number
  /** Absent: as each was measured alone. */
  readonly crowd?: CrowdCosts | undefined
}

export type SentStage = Stage & { readonly codec: Codec }

/** What takes the machine's processors. */
interface Work {
  /** Of a stage's engine, a micro-batch. */
  readonly compute: (stage: Stage) => Seconds
  /** Forward alone. */
  readonly forward: (stage: Stage) => Seconds
  /** A micro-batch's way over the border behind a stage, one way. */
  readonly passing: (stage: SentStage, next: Stage) => Seconds
}

function workOf(cost: CostModel, { peers, crowd }: SharedProcessors): Work {
  const { pool, profile, links, sums } = cost
  const slower = crowd?.slower ?? 1
  const isHere = ({ peer }: Stage) => peers.has(pool.peers[peer]?.id ?? '')
  const isLast = ({ layers }: Stage) => layers[1] === profile.layers.length
  const callOf = ({ peer }: Stage) => crowd?.callSeconds ?? pool.peers[peer]?.callSeconds ?? 0
  const callsOf = (stage: Stage) => callsPerMicroBatch(profile, isLast(stage)) * callOf(stage)
  return {
    compute: (stage) => (isHere(stage) ? slower * cost.workSeconds(stage) + callsOf(stage) : 0),
    forward(stage) {
      const { peer, layers } = stage
      const flops = (sums.f[layers[1]] ?? 0) - (sums.f[layers[0]] ?? 0)
      const seconds = (profile.microBatch * flops) / (pool.peers[peer]?.flopsPerSecond ?? Infinity)
      return isHere(stage) ? slower * seconds + callOf(stage) : 0
    },
    passing(stage, next) {
      if (!isHere(stage) || !isHere(next)) return 0
      const exact = profile.microBatch * (profile.layers[stage.layers[1] - 1]?.activationBytesPerSample ?? 0)
      const seconds = transferSeconds(exact * bytesShare(stage.codec), links.bandwidth(stage.peer, next.peer))
      return (
        seconds + (crowd === undefined ? links.latency(stage.peer, next.peer) : crowd.exchangeSeconds / 2)
      )
    },
  }
}

const bordersOf = (stages: readonly SentStage[], passing: Work['passing']): Seconds =>
  stages.reduce((sum, stage, place) => {
    const next = stages[place + 1]
    return next === undefined ? sum : sum + passing(stage, next)
  }, 0)

/** Each member says twice to all others how far it is, and passes so many chunks on. */
const ringMessages = (members: number): number => members * 4 * (members - 1)

/** Messages of a round between members here: what they carry is little beside the calls it takes. */
function roundSeconds(plan: Plan, { peers, crowd }: SharedProcessors): Seconds {
  if (crowd === undefined) return 0
  const rings = ringsOf(plan.active.map((cluster) => plan.layout.clusters[cluster]?.stages ?? []))
  const messages = rings.map(({ members }) => ringMessages(members.filter((peer) => peers.has(peer)).length))
  return messages.reduce((sum, each) => sum + each, 0) * (crowd.exchangeSeconds / 2)
}

interface Training {
  readonly plan: Plan
  readonly clusters: readonly (readonly SentStage[])[]
  /** Of the clusters, if all had processors of their own. */
  readonly rates: readonly number[]
}

/** How many times as long everything takes on processors that would have to do so much at once; at least 1. */
export function slowdown(
  cost: CostModel,
  { plan, clusters, rates }: Training,
  shared: SharedProcessors,
): number {
  const { compute, passing } = workOf(cost, shared)
  const busy = clusters.map((stages, index) => {
    const seconds = stages.reduce((sum, stage) => sum + compute(stage), 0) + 2 * bordersOf(stages, passing)
    return ((rates[index] ?? 0) / cost.profile.microBatch) * seconds
  })
  const rounds = Math.min(...rates) / cost.samplesBetweenAverages
  const averaging = clusters.length > 1 ? rounds * roundSeconds(plan, shared) : 0
  return Math.max(1, (busy.reduce((sum, each) => sum + each, 0) + averaging) / shared.processors)
}

/** Of all processors here, for a sample that passes forward through these stages. */
export function forwardSeconds(
  cost: CostModel,
  stages: readonly SentStage[],
  shared: SharedProcessors,
): Seconds {
  const { forward, passing } = workOf(cost, shared)
  const seconds = stages.reduce((sum, stage) => sum + forward(stage), 0) + bordersOf(stages, passing)
  return seconds / cost.profile.microBatch / shared.processors
}
