/** Latency and bandwidth between two peers of a pool, by their places in its list. */
import type { Pool } from '../../../shared/plan/pool.ts'
import type { BytesPerSecond, Seconds } from '../../../shared/units.ts'

export interface LinkTable {
  /** One way; the pool's default where nothing is known. */
  latency(a: number, b: number): Seconds
  /** Infinity where nothing is known: then only the peers' own upload and download limit. */
  bandwidth(a: number, b: number): BytesPerSecond
  /** No pair has more. */
  readonly largestLatency: Seconds
  /** Pairs whose latency is known, each once. */
  readonly known: readonly (readonly [number, number])[]
  /** Whether every pair has the pool's default latency. */
  readonly uniformLatency: boolean
}

/** Links that name a peer outside the pool mean nothing; of two links between the same peers the later one counts. */
export function createLinkTable(pool: Pool): LinkTable {
  const places = new Map(pool.peers.map((peer, place) => [peer.id, place]))
  const latencies = createPairs(pool.peers.length, pool.defaultLatencySeconds)
  const bandwidths = createPairs(pool.peers.length, Infinity)
  let largestLatency = pool.defaultLatencySeconds
  let uniformLatency = true
  const known = new Map<number, readonly [number, number]>()
  for (const { between, latencySeconds, bytesPerSecond } of pool.links) {
    const [a, b] = between.map((id) => places.get(id))
    if (a === undefined || b === undefined) continue
    if (bytesPerSecond !== undefined) bandwidths.set(a, b, bytesPerSecond)
    if (latencySeconds === undefined) continue
    latencies.set(a, b, latencySeconds)
    known.set(Math.min(a, b) * pool.peers.length + Math.max(a, b), [a, b])
    largestLatency = Math.max(largestLatency, latencySeconds)
    uniformLatency &&= latencySeconds === pool.defaultLatencySeconds
  }
  return {
    latency: (a, b) => latencies.get(a, b),
    bandwidth: (a, b) => bandwidths.get(a, b),
    largestLatency,
    known: [...known.values()],
    uniformLatency,
  }
}

interface Pairs {
  get(a: number, b: number): number
  set(a: number, b: number, value: number): void
}

/** A table of all pairs is quick to read; beyond so many peers only the known pairs are kept. */
const mostPeersInTable = 1536

function createPairs(count: number, usual: number): Pairs {
  if (count > mostPeersInTable) return createSparsePairs(count, usual)
  const table = new Float64Array(count * count).fill(usual)
  return {
    get: (a, b) => table[a * count + b] ?? usual,
    set(a, b, value) {
      table[a * count + b] = value
      table[b * count + a] = value
    },
  }
}

function createSparsePairs(count: number, usual: number): Pairs {
  const known = new Map<number, number>()
  const keyOf = (a: number, b: number) => Math.min(a, b) * count + Math.max(a, b)
  return {
    get: (a, b) => known.get(keyOf(a, b)) ?? usual,
    set: (a, b, value) => void known.set(keyOf(a, b), value),
  }
}
