/** What could be changed about a pool or a job to make it faster: one thing each, and what is planned with then. */
import type { ModelProfile, Pool, PoolPeer } from '../../../../shared/plan/pool.ts'
import type { ClusterLimit, Limit } from './bottleneck.ts'
import { inBits } from './words.ts'

type PoolLink = Pool['links'][number]

export interface Ground {
  readonly pool: Pool
  readonly profile: ModelProfile
}

export interface Change extends Ground {
  readonly change: string
}

/** What would relieve a limit: of the PC or link that it is about, or of the schedule. */
export function relieversOf(limit: ClusterLimit, ground: Ground): Change[] {
  return relievers[limit.limit](limit, ground)
}

const relievers: Readonly<Record<Limit, (limit: ClusterLimit, ground: Ground) => Change[]>> = {
  compute: ({ peers }, ground) => [
    withPeers(ground, peers, {
      change: `${peers[0] ?? ''} twice as fast`,
      part: ({ flopsPerSecond }) => ({ flopsPerSecond: 2 * flopsPerSecond }),
    }),
  ],
  upload: ({ peers }, ground) => [widerUpload(peers, ground)],
  download: ({ peers }, ground) => [widerDownload(peers, ground)],
  link: ({ peers }, ground) => [widerLink(peers, ground)],
  'round-trip': (_limit, ground) => [moreInFlight(ground), halfLatency(ground)],
  averaging: ({ peers }, ground) => [
    ...(peers.length === 0 ? [halfLatency(ground)] : [widerForRings(peers, ground)]),
    rarerAverages(ground),
  ],
}

/** What a host could wish for everybody. */
export function generalChanges(ground: Ground): Change[] {
  const { pool, profile } = ground
  const everybody = pool.peers.map(({ id }) => id)
  const smaller = { ...ground, change: 'activations and gradients as int8' }
  return [
    withPeers(ground, everybody, {
      change: 'all PCs twice as fast',
      part: ({ flopsPerSecond }) => ({ flopsPerSecond: 2 * flopsPerSecond }),
    }),
    withPeers(ground, everybody, {
      change: 'all uploads twice as wide',
      part: ({ uploadBytesPerSecond }) => ({ uploadBytesPerSecond: 2 * uploadBytesPerSecond }),
    }),
    ...(profile.codec === 'auto' || profile.codec === 'int8'
      ? []
      : [{ ...smaller, profile: { ...profile, codec: 'int8' as const } }]),
  ]
}

export const peerOf = (peers: readonly string[], { pool }: Ground): PoolPeer | undefined =>
  pool.peers.find(({ id }) => id === peers[0])

function withPeers(
  { pool, profile }: Ground,
  ids: readonly string[],
  { change, part }: { readonly change: string; readonly part: (peer: PoolPeer) => Partial<PoolPeer> },
): Change {
  const changed = new Set(ids)
  const peers = pool.peers.map((peer) => (changed.has(peer.id) ? { ...peer, ...part(peer) } : peer))
  return { change, profile, pool: { ...pool, peers } }
}

const widerUpload = (peers: readonly string[], ground: Ground): Change =>
  withPeers(ground, peers, {
    change: `${inBits(2 * (peerOf(peers, ground)?.uploadBytesPerSecond ?? 0))} up`,
    part: ({ uploadBytesPerSecond }) => ({ uploadBytesPerSecond: 2 * uploadBytesPerSecond }),
  })

const widerDownload = (peers: readonly string[], ground: Ground): Change =>
  withPeers(ground, peers, {
    change: `${inBits(2 * (peerOf(peers, ground)?.downloadBytesPerSecond ?? 0))} down`,
    part: ({ downloadBytesPerSecond }) => ({ downloadBytesPerSecond: 2 * downloadBytesPerSecond }),
  })

/** A ring is as fast as the slower of a member's two ways; where they are alike, one of them alone brings nothing. */
function widerForRings(peers: readonly string[], ground: Ground): Change {
  const { uploadBytesPerSecond: up = 0, downloadBytesPerSecond: down = 0 } = peerOf(peers, ground) ?? {}
  if (up < down) return widerUpload(peers, ground)
  if (down < up) return widerDownload(peers, ground)
  return withPeers(ground, peers, {
    change: `${inBits(2 * up)} up and down`,
    part: () => ({ uploadBytesPerSecond: 2 * up, downloadBytesPerSecond: 2 * down }),
  })
}

function widerLink(ends: readonly string[], { pool, profile }: Ground): Change {
  const joins = ({ between }: PoolLink) => between.every((id) => ends.includes(id))
  const wide = 2 * (pool.links.findLast(joins)?.bytesPerSecond ?? 0)
  const links = pool.links.map((link) => (joins(link) ? { ...link, bytesPerSecond: wide } : link))
  return { change: `${inBits(wide)} between them`, profile, pool: { ...pool, links } }
}

const moreInFlight = ({ pool, profile }: Ground): Change => ({
  change: `${2 * profile.inFlight} micro-batches in flight`,
  pool,
  profile: { ...profile, inFlight: 2 * profile.inFlight },
})

const rarerAverages = ({ pool, profile }: Ground): Change => ({
  change: `averages every ${2 * profile.averageEveryUpdates} updates`,
  pool,
  profile: { ...profile, averageEveryUpdates: 2 * profile.averageEveryUpdates },
})

function halfLatency({ pool, profile }: Ground): Change {
  const links = pool.links.map(({ latencySeconds, ...link }): PoolLink =>
    latencySeconds === undefined ? link : { ...link, latencySeconds: latencySeconds / 2 },
  )
  const defaultLatencySeconds = pool.defaultLatencySeconds / 2
  return { change: 'half the latency everywhere', profile, pool: { ...pool, links, defaultLatencySeconds } }
}
