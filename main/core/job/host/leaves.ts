/** Members that leave in order: the others take over what their stages know before they are let go. */
import type { PeerId } from '../../../../shared/ids.ts'
import { planOf, positionOf } from '../plan-in-force.ts'
import { sendRoster } from './gather.ts'
import { giveUpLate } from './late.ts'
import type { HostState } from './host-state.ts'
import { forgetHolder } from './take-stock.ts'

/** A member asks to go. Where it trains, a new plan without it comes first; else it may go at once. */
export function noteLeave(host: HostState, peer: PeerId): void {
  const entry = host.roll.get(peer)
  if (entry === undefined) return
  entry.wish = 'leave'
  if (mustHandOver(host, peer)) {
    host.log.say(`${host.roll.nameOf(peer)} leaves; what its layers have learned is taken over first`)
    host.unplanned = `${host.roll.nameOf(peer)} leaves`
  } else letGo(host, peer)
  host.watch.notify()
}

/** A member goes at once and says so: nobody waits for it to come back. */
export function noteGone(host: HostState, peer: PeerId): void {
  const entry = host.roll.get(peer)
  if (entry !== undefined) entry.wish = 'leave'
}

/**
 * Its cluster is whole and trains, or is held: this stage knows what nobody else does. Where everyone stands still: nobody
 * else has what it holds.
 */
export function mustHandOver(host: HostState, peer: PeerId): boolean {
  const { plan, stock, held, roll } = host
  if (host.standsStill) return stock.lackingWithout([...roll.thatWant('leave'), peer]).length > 0
  const position = plan === undefined ? undefined : positionOf(plan, peer)
  if (position === undefined) return false
  return planOf(host).active.includes(position.cluster) || held.has(position.cluster)
}

/** Nobody needs what they hold: whoever wants to go does. */
export function letThemGo(host: HostState, who: readonly PeerId[] = host.roll.thatWant('leave')): void {
  for (const peer of who) letGo(host, peer)
}

function letGo(host: HostState, peer: PeerId): void {
  const name = host.roll.nameOf(peer)
  void host.send(peer, { type: 'job-ended', outcome: 'stopped', reason: 'left on purpose' })
  host.roll.mark([peer], 'lost', 'left')
  forgetHolder(host, peer)
  host.log.say(`${name} left`)
  if (host.phase === 'gathering') sendRoster(host)
  else host.unplanned = `${name} left`
  giveUpLate(host, peer, `${name} left`)
}
