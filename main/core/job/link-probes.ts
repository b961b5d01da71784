/** How far and how wide the way to another member is: a small message for the round trip, ballast for the rate. */
import { BadMessageError } from '../../../shared/errors.ts'
import type { PeerId } from '../../../shared/ids.ts'
import type { Header, WireMessage } from '../../../shared/messages/wire.ts'
import { kibibyte, second, type Bytes, type Millis } from '../../../shared/units.ts'
import type { Clock, Links } from '../ports.ts'
import { createWatch, type Watch } from './watch.ts'

/** Small messages tell the round trip; the least of them is nearest to the truth. */
const roundTrips = 3
/** Ballast grows until it takes long enough to be told from noise. */
const ballastBytes = [64, 256, 1024, 4096].map((size) => size * kibibyte)
/** Nobody writes or reads it, so all probes send the same: made anew each, megabytes would be cleared for every one. */
const ballast = new Uint8Array(Math.max(...ballastBytes))
const longEnoughMs = 200
/** Below this a clock tells nothing. */
const shortestMs = 0.1
const answerWithinMs = 15 * second
/** A newcomer that hears a probe before it hears that it is in does not answer: the first is sent again after so long. */
const firstAnswerWithinMs = [second, 3 * second, 11 * second]
/** A pool of thousands is not measured pair by pair: so many ways from each peer tell its uplink. */
export const probedPeers = 16

export type LinkReport = Header<'links'>['links'][number]

interface ProbePorts {
  readonly links: Links
  readonly clock: Clock
}

/** Measures ways and answers others' probes. */
export interface LinkProbes {
  measure(peers: readonly PeerId[], plan: number, signal: AbortSignal): Promise<LinkReport[]>
  /** One small message to and fro. False: no answer came. */
  exchange(peer: PeerId, plan: number, signal: AbortSignal): Promise<boolean>
  /** It will not answer any more. */
  lost(peer: PeerId): void
  /** Takes `probe` and `probe-reply`. @throws BadMessageError for a probe without ballast */
  deliver(from: PeerId, message: WireMessage<'probe' | 'probe-reply'>): void
}

interface Way {
  readonly peer: PeerId
  readonly plan: number
  readonly signal: AbortSignal
}

/** Times one message and its answer. */
class Stopwatch {
  readonly #ports: ProbePorts
  readonly #job: string
  readonly #watch: Watch
  readonly #unanswered = new Map<number, PeerId>()
  readonly #lost = new Set<PeerId>()
  #nextId = 0

  constructor(ports: ProbePorts, job: string) {
    this.#ports = ports
    this.#job = job
    this.#watch = createWatch(ports.clock)
  }

  message(type: 'probe' | 'probe-reply', plan: number, id: number, bytes: number): WireMessage {
    const data = ballast.subarray(0, bytes)
    return { header: { type, job: this.#job, plan, id }, tensors: [{ dtype: 'uint8', shape: [bytes], data }] }
  }

  /** Milliseconds from sending to the answer, or undefined when none came. */
  async time({ peer, plan, signal }: Way, bytes: number, withinMs: Millis): Promise<number | undefined> {
    const { links, clock } = this.#ports
    const id = this.#nextId++
    const startedMs = clock.now()
    this.#unanswered.set(id, peer)
    try {
      await links.send(peer, this.message('probe', plan, id, bytes), signal)
      const answered = () => !this.#unanswered.has(id)
      const over = () => answered() || this.#lost.has(peer)
      await this.#watch.until(over, { signal, withinMs })
      return answered() ? clock.now() - startedMs : undefined
    } finally {
      this.#unanswered.delete(id)
    }
  }

  lost(peer: PeerId): void {
    this.#lost.add(peer)
    this.#watch.notify()
  }

  /** It is there, or there again. */
  found(peer: PeerId): void {
    this.#lost.delete(peer)
  }

  answered(from: PeerId, id: number): void {
    if (this.#unanswered.get(id) === from) this.#unanswered.delete(id)
    this.#watch.notify()
  }
}

async function measureWay(stopwatch: Stopwatch, way: Way): Promise<LinkReport | undefined> {
  let roundTripMs = await firstRoundTrip(stopwatch, way)
  if (roundTripMs === undefined) return undefined
  for (let round = 1; round < roundTrips; round++) {
    const tookMs = await stopwatch.time(way, 1, answerWithinMs)
    if (tookMs === undefined) return undefined
    roundTripMs = Math.min(roundTripMs, Math.max(tookMs, shortestMs))
  }
  const bytesPerSecond = await rateOf(stopwatch, way, roundTripMs)
  if (bytesPerSecond === undefined) return undefined
  return { peer: way.peer, roundTripSeconds: roundTripMs / second, bytesPerSecond }
}

/**
 * What the way carries for good. Many lines let the first bytes after a rest pass at once, far above their rate, so the
 * first ballast that takes long only uses that up, and the same again tells the rate. Where none takes long, the best
 * that was seen.
 */
async function rateOf(stopwatch: Stopwatch, way: Way, roundTripMs: Millis): Promise<number | undefined> {
  const timed = async (bytes: Bytes) => {
    const tookMs = await stopwatch.time(way, bytes, answerWithinMs)
    return tookMs === undefined ? undefined : Math.max(tookMs - roundTripMs, shortestMs)
  }
  let best = 0
  for (const bytes of ballastBytes) {
    const tookMs = await timed(bytes)
    if (tookMs === undefined) return undefined
    best = Math.max(best, (bytes * second) / tookMs)
    if (tookMs <= longEnoughMs) continue
    const againMs = await timed(bytes)
    return againMs === undefined ? undefined : (bytes * second) / againMs
  }
  return best
}

async function firstRoundTrip(stopwatch: Stopwatch, way: Way): Promise<Millis | undefined> {
  for (const withinMs of firstAnswerWithinMs) {
    const tookMs = await stopwatch.time(way, 1, withinMs)
    if (tookMs !== undefined) return Math.max(tookMs, shortestMs)
  }
  return undefined
}

export function createLinkProbes(ports: ProbePorts, job: string): LinkProbes {
  const stopwatch = new Stopwatch(ports, job)
  return {
    async measure(peers, plan, signal) {
      const reports: LinkReport[] = []
      for (const peer of peers.slice(0, probedPeers)) {
        // A peer that cannot be reached is left out of the report: the planner then knows no way to it.
        stopwatch.found(peer)
        const report = await measureWay(stopwatch, { peer, plan, signal }).catch(() => undefined)
        if (signal.aborted) break
        if (report !== undefined) reports.push(report)
      }
      return reports
    },
    exchange: async (peer, plan, signal) =>
      (await stopwatch.time({ peer, plan, signal }, 1, answerWithinMs)) !== undefined,
    lost: (peer) => {
      stopwatch.lost(peer)
    },
    deliver(from, { header, tensors }) {
      if (header.type === 'probe-reply') {
        stopwatch.answered(from, header.id)
        return
      }
      if (tensors[0]?.dtype !== 'uint8') throw new BadMessageError('a probe came without its ballast')
      const reply = stopwatch.message('probe-reply', header.plan, header.id, 1)
      ports.links.send(from, reply).catch(() => undefined) // a peer that is gone needs no answer
    },
  }
}
