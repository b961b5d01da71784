/**
 * Two agents with one identity, as after a profile folder was copied to a second PC: the one that was there first goes
 * on showing life while the other says hello. A program that was started anew has no such past: its old streams are
 * over, or silent.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Millis } from '../../../../shared/units.ts'
import type { PeerLink } from './peer-link.ts'

/** In heartbeats after the hello: what was on its way when a program ended has come by the first. */
const showsLifeAfter = 1.5
const judgedAfter = 3
const looksEvery = 0.25

/** Whether the peer of a link lives on elsewhere than on the connection over which another now says hello in its name. */
export async function livesElsewhere(
  link: Pick<PeerLink, 'silentMs' | 'standsElsewhere'>,
  connection: string,
  { now, heartbeatMs }: { readonly now: () => Millis; readonly heartbeatMs: Millis },
): Promise<boolean> {
  const begunMs = now()
  while (now() < begunMs + judgedAfter * heartbeatMs) {
    if (!link.standsElsewhere(connection)) return false
    if (now() - link.silentMs >= begunMs + showsLifeAfter * heartbeatMs) return true
    await sleep(looksEvery * heartbeatMs, undefined, { ref: false })
  }
  return false
}
