/** Pools and profiles drawn by chance: PCs, connections and models as different as they come. */
import type { ModelProfile, Pool } from '../../../shared/plan/pool.ts'
import { createRng, nextInt, type Rng } from '../../../shared/random.ts'

/** Between two amounts, evenly over their orders of magnitude. */
function draw(rng: Rng, low: number, high: number): number {
  return Math.round(low * (high / low) ** rng.next())
}

export interface PoolSize {
  readonly peers: number
  readonly layers: number
}

export function randomProfile(rng: Rng, layers: number): ModelProfile {
  return {
    name: 'random',
    layers: Array.from({ length: layers }, (_, index) => ({
      name: `layer-${index}`,
      parameterBytes: rng.next() < 0.2 ? 0 : draw(rng, 1e5, 1e8),
      activationBytesPerSample: draw(rng, 1e3, 1e6),
      workingBytesPerSample: draw(rng, 1e3, 1e6),
      flopsPerSample: draw(rng, 1e6, 1e9),
    })),
    stateFactor: nextInt(rng, 6),
    microBatch: draw(rng, 1, 64),
    inFlight: 1 + nextInt(rng, 6),
    accumulate: 1 + nextInt(rng, 8),
    averageEveryUpdates: draw(rng, 1, 100),
    backwardFactor: 2 + nextInt(rng, 2),
    codec: 'fp32',
  }
}

/** Each peer lends between a share and several times what the model needs; some links are known and uneven. */
export function randomPool(rng: Rng, peers: number, modelBytes: number): Pool {
  const ids = Array.from({ length: peers }, (_, index) => `pc-${index}`)
  const pairs = ids.flatMap((one, index) =>
    ids.slice(index + 1).map((other): [string, string] => [one, other]),
  )
  const wide = rng.next() < 0.5
  return {
    peers: ids.map((id) => ({
      id,
      memoryBytes: draw(rng, modelBytes * 0.15, modelBytes * 3),
      flopsPerSecond: draw(rng, 1e10, 3e11),
      uploadBytesPerSecond: draw(rng, wide ? 1e6 : 5e4, 1e8),
      downloadBytesPerSecond: draw(rng, wide ? 1e6 : 5e4, 1e8),
    })),
    links: pairs
      .filter(() => rng.next() < 0.4)
      .map((between) => ({
        between,
        ...(rng.next() < 0.8 ? { latencySeconds: draw(rng, 1, 1000) / 1000 } : {}),
        ...(rng.next() < 0.5 ? { bytesPerSecond: draw(rng, 1e5, 1e8) } : {}),
      })),
    defaultLatencySeconds: 0.02,
  }
}

export function randomCase(
  seed: number,
  size: (rng: Rng) => PoolSize,
): { pool: Pool; profile: ModelProfile } {
  const rng = createRng(seed)
  const { peers, layers } = size(rng)
  const profile = randomProfile(rng, layers)
  const modelBytes = profile.layers.reduce(
    (sum, layer) =>
      sum +
      layer.parameterBytes * (1 + profile.stateFactor) +
      layer.workingBytesPerSample * profile.microBatch * profile.inFlight,
    0,
  )
  return { pool: randomPool(rng, peers, modelBytes), profile }
}

/** The same, with stages that may keep what their backward passes need where their peer's engine and memory allow. */
export function inTwoWays(
  { pool, profile }: { pool: Pool; profile: ModelProfile },
  rng: Rng,
): { pool: Pool; profile: ModelProfile } {
  const layers = profile.layers.map((layer) => ({
    ...layer,
    keptBytesPerSample: layer.workingBytesPerSample * draw(rng, 1, 20),
    entryBytesPerSample: draw(rng, 1e3, 1e6),
  }))
  const peers = pool.peers.map((peer) => (rng.next() < 0.2 ? { ...peer, keeps: false } : peer))
  return {
    pool: { ...pool, peers },
    profile: { ...profile, layers, backwardFactor: 3, keepingBackwardFactor: 2 },
  }
}

/** The same, with PCs that are not always there. */
export function withAbsences(pool: Pool, rng: Rng): Pool {
  const peers = pool.peers.map((peer) => ({
    ...peer,
    availability: {
      ...(rng.next() < 0.5 ? { hoursPerDay: nextInt(rng, 25) } : {}),
      ...(rng.next() < 0.5 ? { batteryShare: rng.next() } : {}),
      ...(rng.next() < 0.5 ? { reliability: rng.next() } : {}),
    },
  }))
  return { ...pool, peers }
}
