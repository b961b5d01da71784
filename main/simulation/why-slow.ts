/** What holds a plan back, and what would relieve it by how much. */
import type { PeerId } from '../../shared/ids.ts'
import type { Plan } from '../../shared/plan/plan.ts'
import type { ModelProfile, Pool, PoolPeer } from '../../shared/plan/pool.ts'
import type { Figures, StageFigures } from './figures.ts'

export const limits = ['compute', 'upload', 'download', 'averaging', 'round-trip'] as const
export type Limit = (typeof limits)[number]

export interface Bottleneck {
  /** Of most clusters. */
  readonly limit: Limit
  /** The most loaded PC. */
  readonly peer: PeerId
  /** Of the time, that PC's resource was in use; of a round trip: its engine. */
  readonly share: number
  readonly sentence: string
}

/** One thing that a host could change, and the pool as it would be then. */
export interface Remedy {
  readonly change: string
  readonly pool: Pool
  readonly profile: ModelProfile
  readonly plan: Plan
}

/** A resource in use for less of the time does not hold a cluster back: waiting for micro-batches to return does. */
const isBusy = 0.8

interface Load {
  readonly limit: Limit
  readonly peer: PeerId
  readonly share: number
}

/** The most loaded resource of one cluster. */
function loadOf(stages: readonly StageFigures[]): Load {
  const loads = stages.flatMap((stage): Load[] => [
    { limit: 'averaging', peer: stage.peer, share: stage.averagingShare },
    { limit: 'compute', peer: stage.peer, share: stage.busyShare },
    { limit: 'upload', peer: stage.peer, share: stage.uploadShare },
    { limit: 'download', peer: stage.peer, share: stage.downloadShare },
  ])
  const waits = loads.filter(({ limit }) => limit === 'averaging')
  const most = (of: readonly Load[]) =>
    of.reduce((best, load) => (load.share > best.share ? load : best), of[0] ?? nobody)
  const worked = most(loads.filter(({ limit }) => limit !== 'averaging'))
  const waited = most(waits)
  // A line that is full of chunks holds the average back, which holds the training back.
  if (waited.share > 1 - isBusy && waited.share > 1 - worked.share) return waited
  return worked.share >= isBusy ? worked : { ...worked, limit: 'round-trip' }
}

const nobody: Load = { limit: 'round-trip', peer: '', share: 0 }

export function bottleneckOf({ stages }: Pick<Figures, 'stages'>): Bottleneck {
  const clusters = Map.groupBy(stages, ({ cluster }) => cluster)
  const loads = [...clusters.values()].map(loadOf)
  const counts = limits.map((limit) => loads.filter((load) => load.limit === limit))
  const common = counts.reduce((most, some) => (some.length > most.length ? some : most), [])
  const worst = common.reduce((most, load) => (load.share > most.share ? load : most), common[0] ?? nobody)
  const where = clusters.size === 1 ? '' : ` (so in ${common.length} of ${clusters.size} clusters)`
  return { ...worst, sentence: `${inWords[worst.limit](worst)}${where}.` }
}

const percent = (share: number) => `${Math.round(share * 100)} %`
const inWords: Readonly<Record<Limit, (load: Load) => string>> = {
  compute: ({ peer, share }) => `The processor of ${peer} is busy ${percent(share)} of the time`,
  upload: ({ peer, share }) => `The upload of ${peer} is full ${percent(share)} of the time`,
  download: ({ peer, share }) => `The download of ${peer} is full ${percent(share)} of the time`,
  averaging: ({ peer, share }) => `${peer} waits for averages ${percent(share)} of the time`,
  'round-trip': ({ peer, share }) =>
    `Micro-batches are on their way most of the time; even ${peer}, the busiest, is in use only ${percent(share)} of it`,
}

/** The plan stays; each remedy changes one thing of the pool or the schedule. */
export function remediesFor(
  { pool, profile, plan }: Omit<Remedy, 'change'>,
  { peer, limit }: Pick<Bottleneck, 'peer' | 'limit'>,
): Remedy[] {
  const same = { pool, profile, plan }
  const peers = (change: (peer: PoolPeer) => PoolPeer) => ({
    ...same,
    pool: { ...pool, peers: pool.peers.map(change) },
  })
  const twice = (of: PoolPeer): PoolPeer =>
    limit === 'upload' || limit === 'download'
      ? {
          ...of,
          uploadBytesPerSecond: 2 * of.uploadBytesPerSecond,
          downloadBytesPerSecond: 2 * of.downloadBytesPerSecond,
        }
      : { ...of, flopsPerSecond: 2 * of.flopsPerSecond }
  const part =
    limit === 'upload' || limit === 'download' ? 'a line twice as wide' : 'a processor twice as fast'
  return [
    { change: `${part} for ${peer}`, ...peers((each) => (each.id === peer ? twice(each) : each)) },
    {
      change: 'processors twice as fast everywhere',
      ...peers((each) => ({ ...each, flopsPerSecond: 2 * each.flopsPerSecond })),
    },
    {
      change: 'uploads twice as wide everywhere',
      ...peers((each) => ({ ...each, uploadBytesPerSecond: 2 * each.uploadBytesPerSecond })),
    },
    {
      change: 'downloads twice as wide everywhere',
      ...peers((each) => ({ ...each, downloadBytesPerSecond: 2 * each.downloadBytesPerSecond })),
    },
    { change: 'half the latency everywhere', ...same, pool: withLatency(pool, 0.5) },
    {
      change: 'activations and gradients in half the bytes',
      ...same,
      profile: withActivations(profile, 0.5),
    },
    {
      change: 'twice the micro-batches in flight',
      ...same,
      plan: { ...plan, inFlight: plan.inFlight.map((credits) => 2 * credits) },
    },
    {
      change: 'averaging half as often',
      ...same,
      profile: { ...profile, averageEveryUpdates: 2 * profile.averageEveryUpdates },
    },
  ]
}

function withLatency(pool: Pool, factor: number): Pool {
  return {
    ...pool,
    defaultLatencySeconds: factor * pool.defaultLatencySeconds,
    links: pool.links.map(({ latencySeconds, ...link }) =>
      latencySeconds === undefined ? link : { ...link, latencySeconds: factor * latencySeconds },
    ),
  }
}

function withActivations(profile: ModelProfile, factor: number): ModelProfile {
  const layers = profile.layers.map((layer) => ({
    ...layer,
    activationBytesPerSample: factor * layer.activationBytesPerSample,
  }))
  return { ...profile, layers }
}
