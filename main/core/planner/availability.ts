/** How much of the time PCs are there, and what that leaves of a cluster. */
import type { Pool, PoolPeer } from '../../../shared/plan/pool.ts'

const hoursADay = 24

/** The expected share of time in which a PC is there: hours a day / 24 · (1 − share on battery) · reliability. */
export function shareOfTime({ availability }: Pick<PoolPeer, 'availability'>): number {
  const { hoursPerDay = hoursADay, batteryShare = 0, reliability = 1 } = availability ?? {}
  return (hoursPerDay / hoursADay) * (1 - batteryShare) * reliability
}

/**
 * The share of time in which all peers of a cluster are there, which is when it trains: the product of theirs, as if
 * they came and went independently of each other. Who holds a copy in another cluster does not stand in for one
 * that is gone, so this is the least to expect.
 */
export function createPresence({ peers }: Pool): (places: readonly number[]) => number {
  const shares = peers.map(shareOfTime)
  if (shares.every((share) => share === 1)) return () => 1
  return (places) => places.reduce((product, place) => product * (shares[place] ?? 1), 1)
}

/** The same pool with everybody always there: what it does in an hour in which nobody is missing. */
export function withEverybody(pool: Pool): Pool {
  const peers = pool.peers.map(({ availability: _sometimes, ...peer }): PoolPeer => peer)
  return { ...pool, peers }
}
