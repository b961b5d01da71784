/** How far and how wide the way to another member is: a small message for the round trip, ballast for the rate. */
import { BadMessageError } from '../../../shared/errors.ts'
import type { PeerId } from '../../../shared/ids.ts'
import type { Header, WireMessage } from '../../../shared/messages/wire.ts'
import { kibibyte, second } from '../../../shared/units.ts'
import type { Clock, Links } from '../ports.ts'
import { createWatch } from './watch.ts'

/** Small messages tell the round trip; the least of them is nearest to the truth. */
const roundTrips = 3
/** Ballast grows until it takes long enough to be told from noise. */
const ballastBytes = [64 * kibibyte, 512 * kibibyte, 4096 * kibibyte]
const longEnoughMs = 200
const answerWithinMs = 15 * second
/** A pool of thousands is not measured pair by pair: so many ways from each peer tell its uplink. */
export const probedPeers = 16

export type LinkReport = Header<'links'>['links'][number]

/** Measures ways and answers others' probes. */
export interface LinkProbes {
  measure(peers: readonly PeerId[], plan: number, signal: AbortSignal): Promise<LinkReport[]>
  /** Takes `probe` and `probe-reply`. @throws BadMessageError for a probe without ballast */
  deliver(from: PeerId, message: WireMessage<'probe' | 'probe-reply'>): void
}

export function createLinkProbes(ports: { links: Links; clock: Clock }, job: string): LinkProbes {
  const { links, clock } = ports
  const watch = createWatch(clock)
  const unanswered = new Map<number, PeerId>()
  let nextId = 0

  function probeMessage(type: 'probe' | 'probe-reply', plan: number, id: number, bytes: number): WireMessage {
    const data = new Uint8Array(bytes)
    return { header: { type, job, plan, id }, tensors: [{ dtype: 'uint8', shape: [bytes], data }] }
  }

  /** Milliseconds from sending to the answer, or undefined when none came. */
  async function time(
    peer: PeerId,
    plan: number,
    bytes: number,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const id = nextId++
    const startedMs = clock.now()
    unanswered.set(id, peer)
    try {
      await links.send(peer, probeMessage('probe', plan, id, bytes), signal)
      const answered = await watch.until(() => !unanswered.has(id), { signal, withinMs: answerWithinMs })
      return answered ? clock.now() - startedMs : undefined
    } finally {
      unanswered.delete(id)
    }
  }

  async function measureOne(
    peer: PeerId,
    plan: number,
    signal: AbortSignal,
  ): Promise<LinkReport | undefined> {
    let roundTripMs = Infinity
    for (let round = 0; round < roundTrips; round++) {
      const tookMs = await time(peer, plan, 1, signal)
      if (tookMs === undefined) return undefined
      roundTripMs = Math.min(roundTripMs, Math.max(tookMs, 0.01))
    }
    let bytesPerSecond = 0
    for (const bytes of ballastBytes) {
      const tookMs = await time(peer, plan, bytes, signal)
      if (tookMs === undefined) return undefined
      bytesPerSecond = Math.max(bytesPerSecond, (bytes * second) / Math.max(tookMs - roundTripMs, 0.1))
      if (tookMs > longEnoughMs) break
    }
    return { peer, roundTripSeconds: roundTripMs / second, bytesPerSecond }
  }

  return {
    async measure(peers, plan, signal) {
      const reports: LinkReport[] = []
      for (const peer of peers.slice(0, probedPeers)) {
        // A peer that cannot be reached is left out of the report: the planner then knows no way to it.
        const report = await measureOne(peer, plan, signal).catch(() => undefined)
        if (signal.aborted) break
        if (report !== undefined) reports.push(report)
      }
      return reports
    },
    deliver(from, { header, tensors }) {
      if (header.type === 'probe-reply') {
        if (unanswered.get(header.id) === from) unanswered.delete(header.id)
        watch.notify()
        return
      }
      if (tensors[0]?.dtype !== 'uint8') throw new BadMessageError('a probe came without its ballast')
      links.send(from, probeMessage('probe-reply', header.plan, header.id, 1)).catch(() => undefined)
    },
  }
}
