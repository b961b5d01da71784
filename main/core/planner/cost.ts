/**
 * The cost model: what a stage, a cluster and a pool need and give. Planner, forecast and simulator use this one.
 *
 * p, a, w, f: parameter, activation and working bytes and FLOPs of a layer · s: state factor · β: backward factor ·
 * c: what a call of a peer's engine takes beside its work ·
 * b: samples a micro-batch · K: in flight · A: micro-batches an update · H: updates between averages · T: the busiest
 * resource's seconds a micro-batch · R: a micro-batch's round trip · U, D: upload and download of a peer.
 *
 * A stage runs in one of two ways. It recomputes: least memory, β. Or it keeps what its backward pass needs, where its
 * peer's budget allows: more memory, a smaller β. The last stage of a cluster has one micro-batch at a time, so it
 * keeps within the least memory. What fits a pool is a matter of the least memory alone; the ways decide how fast it is.
 */
import { type Codec, bytesShare } from '../../../shared/codec/codec.ts'
import { InvariantError } from '../../../shared/errors.ts'
import type { LayerRange } from '../../../shared/model/graph.ts'
import type { ModelProfile, Pool, PoolPeer } from '../../../shared/plan/pool.ts'
import type { Bytes, BytesPerSecond, Seconds } from '../../../shared/units.ts'
import { createPresence } from './availability.ts'
import { createLinkTable, type LinkTable } from './link-table.ts'
import { createRingLatency } from './ring-latency.ts'
import type { Held } from './rings.ts'

/** A stage, its peer by place in the pool's list. */
export interface Stage extends Held<number> {
  /** How it runs where that is decided; absent: as its peer's memory allows. */
  readonly recompute?: boolean | undefined
}

export interface ClusterCost {
  /** T. */
  readonly busiestSeconds: Seconds
  /** R. */
  readonly roundTripSeconds: Seconds
  /** b·min(1/T, K/R) · the share of time in which all its peers are there, before averaging limits it. */
  readonly samplesPerSecond: number
  /** Largest held parameter bytes / the slower of upload and download of its peers. */
  readonly averagingLoad: Seconds
}

/** What stages that keep need beyond the others. */
export interface Keeping {
  readonly backwardFactor: number
  /** Sums over layers [0, index) of kept bytes a sample of each micro-batch in flight. */
  readonly sums: Float64Array
  /** The same of a stage's first layer, besides. */
  readonly entry: Float64Array
}

export interface CostModel {
  readonly pool: Pool
  readonly profile: ModelProfile
  readonly links: LinkTable
  /** Sums over layers [0, index) of parameter bytes, working bytes a sample, and FLOPs a sample. */
  readonly sums: { readonly p: Float64Array; readonly w: Float64Array; readonly f: Float64Array }
  /** Of stages that keep; undefined: the profile knows of none. */
  readonly keeping: Keeping | undefined
  /**
   * A micro-batch's bytes over a cut before layer `index`; 0 at both ends of the model. In the profile's codec, and
   * where that is left to the plan in int8: no line need carry more.
   */
  readonly cutBytes: Float64Array
  /** Samples of a cluster between two averages: H·A·b. */
  readonly samplesBetweenAverages: number
  /** The share of time in which all of these peers are there. */
  presence(places: readonly number[]): number
  /** The least that a stage of these layers takes. */
  memoryBytes(layers: LayerRange): Bytes
  /** What a stage takes in the way it runs. */
  stageBytes(stage: Stage): Bytes
  /** Whether a stage runs its forward pass again; undefined: the profile does not tell the ways apart. */
  recomputes(stage: Stage): boolean | undefined
  /** Of a micro-batch: its work and what the calls of the engine cost. */
  computeSeconds(stage: Stage): Seconds
  /** The work alone. */
  workSeconds(stage: Stage): Seconds
  /** @param codecs - of the borders, root first; absent: that of `cutBytes`, and its reading and writing not counted */
  clusterCost(stages: readonly Stage[], codecs?: readonly Codec[]): ClusterCost
  averagingSeconds(clusters: readonly (readonly Stage[])[], largestLoad: Seconds): Seconds
}

/** Seconds to move so many bytes; none take no time, even where nothing moves. */
export function transferSeconds(bytes: Bytes, bytesPerSecond: number): Seconds {
  return bytes === 0 ? 0 : bytes / bytesPerSecond
}

/** What a member passes on in a ring: as much comes in as goes out, both at once. */
export const ringBytesPerSecond = (
  peer: Pick<PoolPeer, 'uploadBytesPerSecond' | 'downloadBytesPerSecond'>,
): BytesPerSecond => Math.min(peer.uploadBytesPerSecond, peer.downloadBytesPerSecond)

/**
 * An engine's seconds to write and to read a float32 byte of a border: a micro-batch is written once and its gradient
 * read once on either side, and the other way round. Measured on a busy laptop's core (`bench wire`).
 */
const codingSecondsPerByte: Readonly<Record<Codec, Seconds>> = {
  fp32: 0,
  fp16: 1.5e-9,
  bf16: 1.5e-9,
  int8: 2e-9,
}

/** The same of a micro-batch whose border has so many bytes in float32. */
export const codingSeconds = (codec: Codec, exact: Bytes): Seconds => exact * codingSecondsPerByte[codec]

function peerOf({ peers }: Pool, place: number): PoolPeer {
  const peer = peers[place]
  if (peer === undefined) throw new InvariantError(`the pool has no peer number ${place}`)
  return peer
}

export function createCostModel(pool: Pool, profile: ModelProfile): CostModel {
  const { microBatch: b, inFlight: K, stateFactor: s, backwardFactor, layers } = profile
  const links = createLinkTable(pool)
  const sums = sumsOfLayers(layers)
  const sentShare = bytesShare(profile.codec === 'auto' ? 'int8' : profile.codec)
  const cutBytes = cutBytesOf(profile, sentShare)
  const between = (values: Float64Array, [from, to]: LayerRange) => (values[to] ?? 0) - (values[from] ?? 0)
  const peerAt = (place: number) => peerOf(pool, place)
  const memoryBytes = (run: LayerRange) => between(sums.p, run) * (1 + s) + b * K * between(sums.w, run)
  const keeping = keepingOf(profile)
  const keptBytes = (run: LayerRange, { sums: kept, entry }: Keeping) =>
    between(sums.p, run) * (1 + s) + b * K * ((entry[run[0]] ?? 0) + between(kept, run))
  const isLast = ([, to]: LayerRange) => to === layers.length
  const recomputes = ({ peer, layers: run, recompute }: Stage) => {
    if (keeping === undefined) return undefined
    if (isLast(run)) return false
    if (recompute !== undefined) return recompute
    const { keeps, memoryBytes: lent } = peerAt(peer)
    return keeps === false || keptBytes(run, keeping) > lent
  }
  const factorOf = (stage: Stage) =>
    keeping === undefined || recomputes(stage) === true ? backwardFactor : keeping.backwardFactor
  const workSeconds = (stage: Stage) =>
    (b * between(sums.f, stage.layers) * (1 + factorOf(stage))) / peerAt(stage.peer).flopsPerSecond
  const callsOf = ({ peer, layers: run }: Stage) =>
    callsPerMicroBatch(profile, isLast(run)) * (peerAt(peer).callSeconds ?? 0)
  const computeSeconds = (stage: Stage) => workSeconds(stage) + callsOf(stage)
  const loadOf = ({ peer, layers: run }: Stage) =>
    transferSeconds(between(sums.p, run), ringBytesPerSecond(peerAt(peer)))
  const ringLatency = createRingLatency(pool, links)
  const presence = createPresence(pool)
  const base = { links, cutBytes, sentShare, peerAt, computeSeconds, loadOf, presence }
  return {
    pool,
    profile,
    links,
    sums,
    cutBytes,
    samplesBetweenAverages: profile.averageEveryUpdates * profile.accumulate * b,
    keeping,
    presence,
    memoryBytes,
    stageBytes: (stage) =>
      keeping === undefined || isLast(stage.layers) || recomputes(stage) === true
        ? memoryBytes(stage.layers)
        : keptBytes(stage.layers, keeping),
    recomputes,
    computeSeconds,
    workSeconds,
    clusterCost: (stages, codecs) => clusterCost(stages, { ...base, codecs }, { b, K }),
    averagingSeconds(clusters, largestLoad) {
      const count = clusters.length
      if (count < 2) return 0
      return ((2 * (count - 1)) / count) * largestLoad + 2 * (count - 1) * ringLatency(clusters)
    },
  }
}

/** Calls of a stage's engine: forward and backward, in one where it is the last of its cluster, and its part of an update. */
export const callsPerMicroBatch = (
  { accumulate }: Pick<ModelProfile, 'accumulate'>,
  isLast: boolean,
): number => (isLast ? 1 : 2) + 1 / accumulate

/** Prefix sums of weights, working memory and work. */
const sumsOfLayers = (layers: ModelProfile['layers']) => ({
  p: sumsOf(layers.map((layer) => layer.parameterBytes)),
  w: sumsOf(layers.map((layer) => layer.workingBytesPerSample)),
  f: sumsOf(layers.map((layer) => layer.flopsPerSample)),
})

function cutBytesOf({ microBatch, layers }: ModelProfile, sentShare: number): Float64Array {
  const sent = layers.map((layer) => microBatch * layer.activationBytesPerSample * sentShare)
  return Float64Array.from([0, ...sent.slice(0, -1), 0])
}

function keepingOf({ layers, keepingBackwardFactor }: ModelProfile): Keeping | undefined {
  const kept = layers.flatMap(({ keptBytesPerSample }) => keptBytesPerSample ?? [])
  if (keepingBackwardFactor === undefined || kept.length < layers.length) return undefined
  return {
    backwardFactor: keepingBackwardFactor,
    sums: sumsOf(kept),
    entry: Float64Array.from(layers, ({ entryBytesPerSample }) => entryBytesPerSample ?? 0),
  }
}

/** What the cost of a cluster is made of. */
interface CostBase {
  readonly links: LinkTable
  readonly cutBytes: Float64Array
  /** Of fp32 bytes, what `cutBytes` are. */
  readonly sentShare: number
  readonly codecs: readonly Codec[] | undefined
  readonly peerAt: (place: number) => PoolPeer
  readonly computeSeconds: (stage: Stage) => Seconds
  readonly loadOf: (stage: Stage) => Seconds
  readonly presence: (places: readonly number[]) => number
}

interface Crossing {
  readonly bytes: Bytes
  readonly codingSeconds: Seconds
}
const nothing: Crossing = { bytes: 0, codingSeconds: 0 }

/** A micro-batch over the border after a stage: its bytes one way, and what both ways cost the engine on either side. */
function crossingOf(stage: Stage | undefined, base: CostBase, border: number): Crossing {
  if (stage === undefined) return nothing
  const { cutBytes, sentShare, codecs } = base
  const bytes = cutBytes[stage.layers[1]] ?? 0
  const codec = codecs?.[border]
  if (codec === undefined) return { bytes, codingSeconds: 0 }
  const exact = bytes / sentShare
  return { bytes: exact * bytesShare(codec), codingSeconds: codingSeconds(codec, exact) }
}

function clusterCost(
  stages: readonly Stage[],
  base: CostBase,
  { b, K }: { b: number; K: number },
): ClusterCost {
  const { links, peerAt, computeSeconds, loadOf } = base
  let busiest = 0
  let roundTrip = 0
  for (const [index, stage] of stages.entries()) {
    const peer = peerAt(stage.peer)
    const next = stages[index + 1]
    const before = crossingOf(stages[index - 1], base, index - 1)
    const after = crossingOf(stage, base, index)
    const sent = after.bytes
    const traffic = sent + before.bytes
    const compute = computeSeconds(stage) + before.codingSeconds + after.codingSeconds
    const upload = transferSeconds(traffic, peer.uploadBytesPerSecond)
    const download = transferSeconds(traffic, peer.downloadBytesPerSecond)
    busiest = Math.max(busiest, compute, upload, download)
    roundTrip += compute
    if (next === undefined) continue
    const nextPeer = peerAt(next.peer)
    const link = links.bandwidth(stage.peer, next.peer)
    const forth = Math.min(peer.uploadBytesPerSecond, nextPeer.downloadBytesPerSecond, link)
    const back = Math.min(nextPeer.uploadBytesPerSecond, peer.downloadBytesPerSecond, link)
    busiest = Math.max(busiest, transferSeconds(sent, link))
    roundTrip += 2 * links.latency(stage.peer, next.peer)
    roundTrip += transferSeconds(sent, forth) + transferSeconds(sent, back)
  }
  return {
    busiestSeconds: busiest,
    roundTripSeconds: roundTrip,
    samplesPerSecond:
      b * Math.min(1 / busiest, K / roundTrip) * base.presence(stages.map(({ peer }) => peer)),
    averagingLoad: Math.max(...stages.map(loadOf)),
  }
}

/** [0, v0, v0+v1, ...]: exact for whole numbers below 2^53. */
function sumsOf(values: readonly number[]): Float64Array {
  const sums = new Float64Array(values.length + 1)
  for (const [index, value] of values.entries()) sums[index + 1] = (sums[index] ?? 0) + value
  return sums
}

/** The memory below which a peer cannot hold even the model's smallest layer. */
export function smallestLayerBytes(cost: CostModel): Bytes {
  const needs = cost.profile.layers.map((_, index) => cost.memoryBytes([index, index + 1]))
  return needs.reduce((least, bytes) => Math.min(least, bytes), Infinity)
}

/** The samples a second that averaging leaves a cluster: it must end before the next round begins. */
export function effectiveRate(rate: number, samplesBetweenAverages: number, averaging: Seconds): number {
  return averaging === 0 ? rate : Math.min(rate, samplesBetweenAverages / averaging)
}
