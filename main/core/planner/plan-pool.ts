/** The planner: which peers form which cluster, and who holds which layers. */
import { InvalidInputError } from '../../../shared/errors.ts'
import type { DoesNotFit, Layout } from '../../../shared/plan/plan.ts'
import type { ModelProfile, Pool, PoolPeer } from '../../../shared/plan/pool.ts'
import { createRng, type Rng } from '../../../shared/random.ts'
import { type Bytes, gibibyte, mebibyte } from '../../../shared/units.ts'
import { shareOfTime } from './availability.ts'
import { type CostModel, createCostModel, smallestLayerBytes, type Stage } from './cost.ts'
import { planFigures } from './plan-figures.ts'
import { searchPlan } from './search/search-plan.ts'
import { leastShortfall, type Shortfall } from './shortfall.ts'

export interface PlanRequest {
  /** Peers with different ids. Links to peers outside the pool mean nothing. */
  readonly pool: Pool
  /** With FLOPs in at least one layer. */
  readonly profile: ModelProfile
  /** The same seed gives the same plan. */
  readonly seed: number
  /** Exactly so many clusters; absent: as many as are best. */
  readonly clusters?: number
}

/**
 * The plan with the most samples a second: exact for small pools, by a genetic search for larger ones.
 * It never exceeds a memory budget; a pool that cannot hold the model gets the missing bytes as its answer.
 *
 * @throws InvalidInputError for a pool with two peers of one id, or a profile without work
 */
export function planPool({ pool, profile, seed, clusters }: PlanRequest): Layout | DoesNotFit {
  if (new Set(pool.peers.map((peer) => peer.id)).size < pool.peers.length)
    throw new InvalidInputError('two peers of the pool have the same id; give each its own')
  const cost = createCostModel(pool, profile)
  if ((cost.sums.f.at(-1) ?? 0) === 0)
    throw new InvalidInputError(`no layer of "${profile.name}" has any FLOPs; a plan needs a measure of work`)
  const rng = createRng(seed)
  const places = sortPeers(cost)
  const shortfall = leastShortfall(cost, places.linked, rng)
  const found = searchPlan({ cost, ...places, shortfall, rng, wanted: clusters })
  if (found.length === 0) return doesNotFit(cost, places, shortfall)
  if (clusters !== undefined && found.length < clusters) return tooFew(cost, found, { places, clusters, rng })
  return layoutOf(found, cost)
}

/** Who may take part, by place in the pool. */
interface Places {
  /** May sit in a pipeline and in a ring. */
  readonly linked: readonly number[]
  /** Without upload or download: could train alone, with all of the model. */
  readonly solitary: readonly number[]
}

function sortPeers({ pool }: CostModel): Places {
  const able = [...pool.peers.entries()].filter(
    ([, peer]) => peer.memoryBytes > 0 && peer.flopsPerSecond > 0 && shareOfTime(peer) > 0,
  )
  return {
    linked: able.filter(([, peer]) => isLinked(peer)).map(([place]) => place),
    solitary: able.filter(([, peer]) => !isLinked(peer)).map(([place]) => place),
  }
}

function isLinked(peer: PoolPeer): boolean {
  return peer.uploadBytesPerSecond > 0 && peer.downloadBytesPerSecond > 0
}

/** Why a peer is in no cluster. */
function whyUnused(peer: PoolPeer, smallestLayerBytes: Bytes): string | undefined {
  if (peer.memoryBytes === 0) return 'it lends no memory'
  if (peer.flopsPerSecond === 0) return 'its speed is 0'
  if (shareOfTime(peer) === 0) return 'it is never there'
  if (!isLinked(peer)) return 'its upload or download bandwidth is 0, so it could only train alone'
  if (peer.memoryBytes < smallestLayerBytes) return 'its memory holds not one layer of the model'
  return undefined
}

/**
 * Clusters by place in the pool as a plan, with every figure, and why the others are not in it.
 *
 * @param whySpare - of those who could be in it
 */
export function layoutOf(
  clusters: readonly (readonly Stage[])[],
  cost: CostModel,
  whySpare = 'the pool is not faster with it',
): Layout {
  const { peers } = cost.pool
  const named = clusters.map((stages) =>
    stages.map(({ peer, layers }) => ({ peer: peers[peer]?.id ?? '', layers })),
  )
  const busy = new Set(named.flatMap((stages) => stages.map((stage) => stage.peer)))
  const idle = peers.filter((peer) => !busy.has(peer.id))
  const smallest = smallestLayerBytes(cost)
  const unused = idle.map((peer) => ({ peer: peer.id, reason: whyUnused(peer, smallest) ?? whySpare }))
  return { ...planFigures(cost.pool, cost.profile, named), unused }
}

function doesNotFit(cost: CostModel, { linked, solitary }: Places, shortfall: Shortfall): DoesNotFit {
  const needed = cost.memoryBytes([0, cost.profile.layers.length])
  const lent = (place: number) => cost.pool.peers[place]?.memoryBytes ?? 0
  const alone = (group: readonly number[]) => group.map((place) => Math.max(0, needed - lent(place)))
  const pooled = linked.reduce((sum, place) => sum + lent(place), 0)
  const fitsUnconnected = shortfall.missingBytes === 0
  // Enough memory, and still no cluster: the links between its peers carry nothing, so one peer must hold it all.
  const together = fitsUnconnected ? alone(linked) : [shortfall.missingBytes]
  const shortfallBytes = Math.min(...together, ...alone(solitary))
  const plainer =
    nobodyTrains(cost, [...linked, ...solitary]) ?? largestMisfit(cost, [...linked, ...solitary])
  if (plainer !== undefined) return { feasible: false, shortfallBytes, reason: plainer }
  const lends = fitsUnconnected
    ? 'the peers that could hold it together cannot reach each other'
    : `the usable peers lend ${inWords(pooled)}`
  return {
    feasible: false,
    shortfallBytes,
    reason: `The model needs ${inWords(needed)} of memory and ${lends}; ${inWords(shortfallBytes)} more would make it fit.`,
  }
}

function nobodyTrains({ pool }: CostModel, usable: readonly number[]): string | undefined {
  const [first] = pool.peers
  if (usable.length > 0 || first === undefined) return undefined
  const why = whyUnused(first, 0) ?? ''
  return `No PC of the pool can train ("${first.id}": ${why}); give one that lends memory, speed and time.`
}

/** A layer that no peer can hold is what to speak of: it cannot be cut. */
function largestMisfit(cost: CostModel, usable: readonly number[]): string | undefined {
  const { peers } = cost.pool
  const places = usable.toSorted((a, b) => (peers[b]?.memoryBytes ?? 0) - (peers[a]?.memoryBytes ?? 0))
  const largest = peers[places[0] ?? -1]
  if (largest === undefined) return undefined
  const needs = cost.profile.layers.map(({ name }, index) => ({
    name,
    bytes: cost.memoryBytes([index, index + 1]),
  }))
  const misfits = needs.filter(({ bytes }) => bytes > largest.memoryBytes).sort((a, b) => b.bytes - a.bytes)
  const [first] = misfits
  if (first === undefined) return undefined
  const others = misfits.length === 1 ? '' : ` (${misfits.length} layers are too large)`
  return (
    `The layer "${first.name}" alone needs ${inWords(first.bytes)} of memory and "${largest.id}", which lends most, ` +
    `lends ${inWords(largest.memoryBytes)}${others}; a layer is never cut, so lend at least ${inWords(first.bytes)} there.`
  )
}

/** Not as many clusters as were asked for. The bytes are enough for the missing ones, beside those that were found. */
function tooFew(
  cost: CostModel,
  found: readonly (readonly Stage[])[],
  { places, clusters, rng }: { places: Places; clusters: number; rng: Rng },
): DoesNotFit {
  const busy = new Set(found.flatMap((stages) => stages.map((stage) => stage.peer)))
  const idle = places.linked.filter((place) => !busy.has(place))
  const needed = cost.memoryBytes([0, cost.profile.layers.length])
  const next = leastShortfall(cost, idle, rng).missingBytes
  const shortfallBytes = (next === 0 ? needed : next) + (clusters - found.length - 1) * needed
  return {
    feasible: false,
    shortfallBytes,
    reason:
      `The pool holds ${found.length} of ${clusters} clusters; ask for fewer, ` +
      `or add peers with ${inWords(shortfallBytes)} of memory.`,
  }
}

function inWords(bytes: Bytes): string {
  if (bytes >= gibibyte) return `${(bytes / gibibyte).toFixed(2)} GiB`
  if (bytes >= mebibyte) return `${(bytes / mebibyte).toFixed(2)} MiB`
  return `${Math.ceil(bytes)} bytes`
}
