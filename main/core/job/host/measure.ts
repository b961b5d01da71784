/** The ways between the PCs, measured once: what is known stays known, over losses and starts of the host. */
import type { PeerId } from '../../../../shared/ids.ts'
import { minute } from '../../../../shared/units.ts'
import { type LinkReport, probedPeers } from '../link-probes.ts'
import type { HostState } from './host-state.ts'
import type { Enrolled } from './roll.ts'

/** Measuring takes seconds; a peer that is not done by then is planned with what others measured of it. */
const measureWithinMs = minute

/** Whom it has measured no way to yet, as far as it should. */
function unknownTo({ roll }: HostState, { peer: self, links }: Enrolled): PeerId[] {
  const known = new Set(links.map(({ peer }) => peer))
  const unknown = roll.willing.map(({ peer }) => peer).filter((peer) => peer !== self && !known.has(peer))
  return unknown.slice(0, Math.max(0, probedPeers - links.length))
}

/** Those of whom no way is known: no plan can use them. */
export function unmeasured({ roll }: HostState): readonly Enrolled[] {
  const { willing } = roll
  return willing.length === 1 ? [] : willing.filter(({ links }) => links.length === 0)
}

/** Learn every way between those present that nobody has told of yet. */
export async function measure(host: HostState, signal: AbortSignal): Promise<void> {
  // The newest first: whoever answers has heard that it is in, and answers the probes of others.
  // One after the other: measured side by side, every way would look as slow as the machine is busy.
  for (const entry of host.roll.willing.toReversed()) {
    const peers = unknownTo(host, entry)
    if (peers.length === 0) continue
    entry.measured = false
    void host.send(entry.peer, { type: 'measure-links', peers })
    // One who comes again has a new line, and is measured the next time.
    const done = () => entry.measured || entry.state === 'lost' || host.roll.get(entry.peer) !== entry
    await host.watch.until(done, { signal, withinMs: measureWithinMs })
  }
}

/** What a member measured, beside what it told before. */
export function noteLinks(entry: Enrolled, links: readonly LinkReport[]): void {
  const news = new Set(links.map(({ peer }) => peer))
  entry.links = [...entry.links.filter(({ peer }) => !news.has(peer)), ...links]
  entry.measured = true
}
