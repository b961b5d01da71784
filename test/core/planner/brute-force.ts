/**
 * Every plan of a small pool, straight from the formulas of the design: an oracle that shares no line with the planner.
 * Names follow the design: p a w f of a layer; b K A H s β of a job; M F U D of a peer.
 */
import type { ModelProfile, Pool } from '../../../shared/plan/pool.ts'

export interface PlainStage {
  readonly peer: number
  readonly from: number
  readonly to: number
}

export function memoryOf(profile: ModelProfile, from: number, to: number): number {
  let p = 0
  let w = 0
  for (const layer of profile.layers.slice(from, to)) {
    p += layer.parameterBytes
    w += layer.workingBytesPerSample
  }
  return p * (1 + profile.stateFactor) + profile.microBatch * profile.inFlight * w
}

/** The same of a stage that keeps what its backward pass needs. */
function keptMemoryOf(profile: ModelProfile, from: number, to: number): number {
  const { microBatch: b, inFlight: K, stateFactor: s } = profile
  const run = profile.layers.slice(from, to)
  const p = run.reduce((sum, layer) => sum + layer.parameterBytes, 0)
  const kept = run.reduce((sum, layer) => sum + layer.keptBytesPerSample!, run[0]!.entryBytesPerSample!)
  return p * (1 + s) + b * K * kept
}

/** Whether a stage has to run its forward passes again. */
export function recomputes(pool: Pool, profile: ModelProfile, { peer, from, to }: PlainStage): boolean {
  if (profile.keepingBackwardFactor === undefined) return true
  const { keeps, memoryBytes } = pool.peers[peer]!
  return to < profile.layers.length && (keeps === false || keptMemoryOf(profile, from, to) > memoryBytes)
}

/** What a stage takes, the way it runs. */
export function stageMemoryOf(pool: Pool, profile: ModelProfile, stage: PlainStage): number {
  const { from, to } = stage
  const least = to === profile.layers.length || recomputes(pool, profile, stage)
  return least ? memoryOf(profile, from, to) : keptMemoryOf(profile, from, to)
}

function linkOf(pool: Pool, x: number, y: number) {
  const ids = [pool.peers[x]!.id, pool.peers[y]!.id]
  const link = pool.links.findLast(({ between }) => ids.includes(between[0]) && ids.includes(between[1]))
  return { L: link?.latencySeconds ?? pool.defaultLatencySeconds, B: link?.bytesPerSecond ?? Infinity }
}

const over = (bytes: number, rate: number) => (bytes === 0 ? 0 : bytes / rate)

function presenceOf({ availability }: Pool['peers'][number]): number {
  const hours = availability?.hoursPerDay ?? 24
  return (hours / 24) * (1 - (availability?.batteryShare ?? 0)) * (availability?.reliability ?? 1)
}

/** b·min(1/T, K/R) of one cluster, of the time in which all its peers are there. */
export function clusterRate(pool: Pool, profile: ModelProfile, stages: readonly PlainStage[]): number {
  const { microBatch: b, inFlight: K, backwardFactor } = profile
  const A = (border: number) =>
    border < 0 || border >= stages.length - 1
      ? 0
      : b * profile.layers[stages[border]!.to - 1]!.activationBytesPerSample
  const nextOf = (index: number) => stages[index + 1]
  let T = 0
  let R = 0
  stages.forEach((stage, index) => {
    const peer = pool.peers[stage.peer]!
    const f = profile.layers.slice(stage.from, stage.to).reduce((sum, layer) => sum + layer.flopsPerSample, 0)
    const factor = recomputes(pool, profile, stage) ? backwardFactor : profile.keepingBackwardFactor!
    const calls = (nextOf(index) === undefined ? 1 : 2) + 1 / profile.accumulate
    const compute = (b * f * (1 + factor)) / peer.flopsPerSecond + calls * (peer.callSeconds ?? 0)
    const moved = A(index) + A(index - 1)
    T = Math.max(T, compute, over(moved, peer.uploadBytesPerSecond), over(moved, peer.downloadBytesPerSecond))
    R += compute
    const nextStage = nextOf(index)
    if (nextStage === undefined) return
    const next = pool.peers[nextStage.peer]!
    const { L, B } = linkOf(pool, stage.peer, nextStage.peer)
    T = Math.max(T, over(A(index), B))
    R += 2 * L
    R += over(A(index), Math.min(peer.uploadBytesPerSecond, next.downloadBytesPerSecond, B))
    R += over(A(index), Math.min(next.uploadBytesPerSecond, peer.downloadBytesPerSecond, B))
  })
  const presence = stages.reduce((product, { peer }) => product * presenceOf(pool.peers[peer]!), 1)
  return b * Math.min(1 / T, K / R) * presence
}

export function averagingOf(
  pool: Pool,
  profile: ModelProfile,
  clusters: readonly (readonly PlainStage[])[],
): number {
  const C = clusters.length
  if (C < 2) return 0
  let bytesTime = 0
  for (const { peer, from, to } of clusters.flat()) {
    const held = profile.layers.slice(from, to).reduce((sum, layer) => sum + layer.parameterBytes, 0)
    const { uploadBytesPerSecond: U, downloadBytesPerSecond: D } = pool.peers[peer]!
    bytesTime = Math.max(bytesTime, over(((2 * (C - 1)) / C) * held, Math.min(U, D)))
  }
  let latency = 0
  for (let layer = 0; layer < profile.layers.length; layer++) {
    const ring = clusters.map((stages) => stages.find(({ from, to }) => from <= layer && layer < to)!.peer)
    for (const x of ring) for (const y of ring) if (x !== y) latency = Math.max(latency, linkOf(pool, x, y).L)
  }
  return bytesTime + 2 * (C - 1) * latency
}

export function poolRate(
  pool: Pool,
  profile: ModelProfile,
  clusters: readonly (readonly PlainStage[])[],
): number {
  const averaging = averagingOf(pool, profile, clusters)
  const { averageEveryUpdates: H, accumulate: A, microBatch: b } = profile
  const most = averaging === 0 ? Infinity : (H * A * b) / averaging
  return clusters.reduce((sum, stages) => sum + Math.min(clusterRate(pool, profile, stages), most), 0)
}

/** All clusters that peers of `allowed` can form: every order, every cut, within memory. */
function everyCluster(
  pool: Pool,
  profile: ModelProfile,
): { stages: PlainStage[]; mask: number; rate: number }[] {
  const found: { stages: PlainStage[]; mask: number; rate: number }[] = []
  const layers = profile.layers.length
  function extend(stages: PlainStage[], mask: number, from: number): void {
    if (from === layers) {
      const rate = clusterRate(pool, profile, stages)
      if (rate > 0) found.push({ stages, mask, rate })
      return
    }
    for (const [peer, { memoryBytes, flopsPerSecond }] of pool.peers.entries()) {
      if ((mask & (1 << peer)) !== 0 || flopsPerSecond === 0) continue
      for (let to = from + 1; to <= layers && memoryOf(profile, from, to) <= memoryBytes; to++)
        extend([...stages, { peer, from, to }], mask | (1 << peer), to)
    }
  }
  extend([], 0, 0)
  return found
}

/** The largest pool rate of any plan; 0 when the model does not fit. Skips only plans whose rate before averaging is lower. */
export function bestRate(pool: Pool, profile: ModelProfile, clusters?: number): number {
  const every = everyCluster(pool, profile).sort((a, b) => b.rate - a.rate)
  let best = 0
  function choose(chosen: PlainStage[][], mask: number, rate: number, start: number): void {
    if (chosen.length > 0 && (clusters ?? chosen.length) === chosen.length)
      best = Math.max(best, poolRate(pool, profile, chosen))
    const free = pool.peers.length - mask.toString(2).replaceAll('0', '').length
    for (let index = start; index < every.length; index++) {
      const next = every[index]!
      if (rate + next.rate * free <= best) return
      if ((next.mask & mask) === 0)
        choose([...chosen, next.stages], mask | next.mask, rate + next.rate, index + 1)
    }
  }
  choose([], 0, 0, 0)
  return best
}

/**
 * The fewest parameter bytes that peers must fetch for any plan with at least `least` samples a second, or infinity.
 *
 * @param before - who holds what; each peer once
 */
export function fewestMovedBytes(
  pool: Pool,
  profile: ModelProfile,
  before: readonly PlainStage[],
  least: number,
): number {
  const fetched = ({ peer, from, to }: PlainStage) => {
    const held = before.find((stage) => stage.peer === peer)
    let bytes = 0
    for (let layer = from; layer < to; layer++)
      if (held === undefined || layer < held.from || layer >= held.to)
        bytes += profile.layers[layer]!.parameterBytes
    return bytes
  }
  const every = everyCluster(pool, profile)
    .map((cluster) => ({
      ...cluster,
      moved: cluster.stages.reduce((sum, stage) => sum + fetched(stage), 0),
    }))
    .sort((a, b) => a.moved - b.moved)
  let fewest = Infinity
  function choose(chosen: PlainStage[][], mask: number, moved: number, start: number): void {
    if (moved < fewest && chosen.length > 0 && poolRate(pool, profile, chosen) >= least) fewest = moved
    for (let index = start; index < every.length; index++) {
      const next = every[index]!
      if (moved + next.moved >= fewest) return
      if ((next.mask & mask) === 0)
        choose([...chosen, next.stages], mask | next.mask, moved + next.moved, index + 1)
    }
  }
  choose([], 0, 0, 0)
  return fewest
}

/** The least growth of budgets with which one cluster holds the model: every order, every cut. */
export function leastGrowth(pool: Pool, profile: ModelProfile): number {
  const layers = profile.layers.length
  let best = Infinity
  function extend(mask: number, from: number, growth: number): void {
    if (growth >= best) return
    if (from === layers) {
      best = growth
      return
    }
    for (const [peer, { memoryBytes }] of pool.peers.entries()) {
      if ((mask & (1 << peer)) !== 0) continue
      for (let to = from + 1; to <= layers; to++)
        extend(mask | (1 << peer), to, growth + Math.max(0, memoryOf(profile, from, to) - memoryBytes))
    }
  }
  extend(0, 0, 0)
  return best
}
