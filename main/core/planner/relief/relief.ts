/** What would make a plan faster, and by how much: every figure is that of a plan for the changed pool. */
import type { Layout } from '../../../../shared/plan/plan.ts'
import { clusterName } from '../../../../shared/plan/words.ts'
import { createCostModel } from '../cost.ts'
import { planFigures } from '../plan-figures.ts'
import { planPool } from '../plan-pool.ts'
import type { Held } from '../rings.ts'
import { createCutter } from '../search/cuts.ts'
import { type ClusterLimit, limitsOf } from './bottleneck.ts'
import { type Change, generalChanges, type Ground, peerOf, relieversOf } from './changes.ts'
import { inBits, inFlops, inPercent, inSeconds } from './words.ts'

export interface Remedy {
  readonly change: string
  /** Of the pool, with the change. */
  readonly samplesPerSecond: number
  /** Of the rate without it; 0.5: half as much again. */
  readonly gain: number
}

export interface Bottleneck extends ClusterLimit {
  /** With what would relieve it. */
  readonly sentence: string
  /** The greatest gain first. */
  readonly remedies: readonly Remedy[]
}

export interface Planned extends Ground {
  readonly seed: number
  readonly layout: Pick<Layout, 'clusters' | 'samplesPerSecond'>
}

/** Pools so small are planned anew for each change; a search takes tenths of a second. */
const mostPeersPlannedAnew = 8
/** Clusters of plans so small are cut anew for each change. */
const mostStagesCutAnew = 128
/** Limits that are tried to be relieved; the others are of more clusters of the same pool. */
const mostTried = 12

/**
 * Of the limits of all clusters the one whose relief brings the pool most, and what else would help. A change's
 * rate is the best of three plans: the stages as they are, the clusters cut anew, and for small pools a new plan.
 */
export function bottleneckOf(planned: Planned): Bottleneck {
  const now = planned.layout.samplesPerSecond
  const judge = (change: Change): Remedy => {
    const samplesPerSecond = bestRate(change, planned)
    return { change: change.change, samplesPerSecond, gain: samplesPerSecond / now - 1 }
  }
  const byGain = (remedies: readonly Remedy[]) => remedies.toSorted((one, other) => other.gain - one.gain)
  const found = limitsOf(planned.pool, planned.profile, planned.layout)
  const unlike = new Map(
    found.toReversed().map((limit) => [`${limit.limit} ${limit.peers.join(' ')}`, limit]),
  )
  const tried = [...unlike.values()]
    .toReversed()
    .slice(0, mostTried)
    .map((limit) => ({ limit, remedies: byGain(relieversOf(limit, planned).map(judge)) }))
  const worst = tried.reduce((most, each) =>
    (each.remedies[0]?.gain ?? 0) > (most.remedies[0]?.gain ?? 0) ? each : most,
  )
  const remedies = byGain([...worst.remedies, ...generalChanges(planned).map(judge)])
  return { ...worst.limit, sentence: sentenceOf(worst.limit, planned, worst.remedies[0]), remedies }
}

function bestRate(changed: Ground, { seed, layout }: Planned): number {
  const { pool, profile } = changed
  const clusters = layout.clusters.map(({ stages }) => stages)
  const rateOf = (of: readonly (readonly Held<string>[])[]) => planFigures(pool, profile, of).samplesPerSecond
  const rates = fit(clusters, changed) ? [rateOf(clusters)] : []
  if (clusters.flat().length <= mostStagesCutAnew) {
    const cut = cutAnew(clusters, changed)
    if (cut.length === clusters.length) rates.push(rateOf(cut))
  }
  if (pool.peers.length <= mostPeersPlannedAnew) {
    const anew = planPool({ pool, profile, seed })
    if (!('feasible' in anew)) rates.push(anew.samplesPerSecond)
  }
  return Math.max(0, ...rates)
}

/** Within memory: more in flight takes more of it. */
function fit(clusters: readonly (readonly Held<string>[])[], { pool, profile }: Ground): boolean {
  const cost = createCostModel(pool, profile)
  const lent = new Map(pool.peers.map(({ id, memoryBytes }) => [id, memoryBytes]))
  return clusters.flat().every(({ peer, layers }) => cost.memoryBytes(layers) <= (lent.get(peer) ?? 0))
}

/** The same peers in the same order with the quickest cuts; fewer clusters where some have none. */
function cutAnew(clusters: readonly (readonly Held<string>[])[], { pool, profile }: Ground) {
  const cost = createCostModel(pool, profile)
  const places = new Map(pool.peers.map(({ id }, place) => [id, place]))
  const everywhere = Array.from({ length: profile.layers.length + 1 }, (_, place) => place)
  const cutter = createCutter(cost, everywhere)
  return clusters.flatMap((stages) => {
    const order = stages.map(({ peer }) => places.get(peer) ?? -1)
    const cut = cutter.best(order, Infinity)
    return cut === undefined
      ? []
      : [cut.stages.map(({ peer, layers }) => ({ peer: pool.peers[peer]?.id ?? '', layers }))]
  })
}

/** "The upload of kitchen-pc, 20 Mbit/s, holds Cluster A back; with 40 Mbit/s up: +31 %." */
function sentenceOf(limit: ClusterLimit, planned: Planned, remedy: Remedy | undefined): string {
  const { clusters } = planned.layout
  const where = clusters.length === 1 ? 'the pool' : clusterName(limit.cluster)
  const gain =
    remedy === undefined
      ? ''
      : `; with ${remedy.change}: +${inPercent(remedy.gain)}, ${Number(remedy.samplesPerSecond.toPrecision(3))} samples/s`
  return `${causeOf[limit.limit](limit, planned, where)}${gain}.`
}

const causeOf: Readonly<
  Record<ClusterLimit['limit'], (limit: ClusterLimit, ground: Ground, where: string) => string>
> = {
  compute: ({ peers }, ground, where) =>
    `The speed of ${peers[0] ?? ''}, ${inFlops(peerOf(peers, ground)?.flopsPerSecond ?? 0)}, holds ${where} back`,
  upload: ({ peers }, ground, where) =>
    `The upload of ${peers[0] ?? ''}, ${inBits(peerOf(peers, ground)?.uploadBytesPerSecond ?? 0)}, holds ${where} back`,
  download: ({ peers }, ground, where) =>
    `The download of ${peers[0] ?? ''}, ${inBits(peerOf(peers, ground)?.downloadBytesPerSecond ?? 0)}, holds ${where} back`,
  link: ({ peers }, _ground, where) => `The link between ${peers.join(' and ')} holds ${where} back`,
  'round-trip': ({ seconds }, { profile }, where) =>
    `${profile.inFlight} micro-batches in flight do not hide the ${inSeconds(seconds)} of a round trip in ${where}`,
  averaging: ({ peers, seconds }, ground) =>
    peers.length === 0
      ? `Averages take ${inSeconds(seconds)} a round, most of it the latency between PCs`
      : `Averages take ${inSeconds(seconds)} a round, most of it over the ${slowerWay(peers, ground)}`,
}

/** "upload of kitchen-pc, 20 Mbit/s". */
function slowerWay(peers: readonly string[], ground: Ground): string {
  const { uploadBytesPerSecond: up = 0, downloadBytesPerSecond: down = 0 } = peerOf(peers, ground) ?? {}
  return `${down < up ? 'download' : 'upload'} of ${peers[0] ?? ''}, ${inBits(Math.min(up, down))}`
}
