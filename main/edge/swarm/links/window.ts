/**
 * How much bulk may be on its way to a peer: as much as keeps the line busy and little more, so that what follows it, in
 * this connection or another, hardly waits. The receiver acknowledges what came in; what an acknowledgement takes longer
 * than it once did is time spent in queues, our own socket's among them.
 *
 * @see RFC 6817, "Low Extra Delay Background Transport (LEDBAT)", whose idea this is
 */
import { kibibyte, mebibyte, minute, type Bytes, type Millis } from '../../../../shared/units.ts'

/** The receiver says so whenever this much more of a stream came in. */
export const acknowledgedBytes: Bytes = 16 * kibibyte
/** Of bulk this may wait in queues. A pipeline with a credit to spare hides as much. */
const targetMs: Millis = 15
/** Two acknowledgements; more than the line takes, where it is slower than some Mbit/s. */
const leastBytes: Bytes = 2 * acknowledgedBytes
const mostBytes: Bytes = 4 * mebibyte
/** How much of what is too little or too much in the queues is made good with one round trip. */
const gain = 0.25
/** The least delay of one to two such times is that of the line without queues. */
const memoryMs: Millis = 5 * minute
/** One late answer says more about this process than about the line. */
const filtered = 4

interface Mark {
  readonly end: Bytes
  readonly atMs: Millis
}

export interface Window {
  /** Bytes that may be under way. */
  readonly bytes: Bytes
  /** Count a piece that leaves now; when a promise comes back, the next has to wait for it. */
  leave(bytes: Bytes): Promise<void> | undefined
  /** The receiver has so many bytes more. */
  acknowledge(bytes: Bytes): void
  /** The stream is over: nobody waits any more. */
  close(): void
}

/** Least delays of this period and the one before. */
class Baseline {
  #before: Millis = Infinity
  #least: Millis = Infinity
  #sinceMs: Millis

  constructor(now: Millis) {
    this.#sinceMs = now
  }

  see(delay: Millis, now: Millis): Millis {
    if (now - this.#sinceMs > memoryMs) {
      this.#before = this.#least
      this.#least = Infinity
      this.#sinceMs = now
    }
    this.#least = Math.min(this.#least, delay)
    return Math.min(this.#least, this.#before)
  }
}

export function createWindow(now: () => Millis): Window {
  const baseline = new Baseline(now())
  const recent: Millis[] = []
  let marks: Mark[] = []
  let bytes: Bytes = 4 * leastBytes
  let left = 0
  let came = 0
  let waiting: PromiseWithResolvers<void> | undefined
  let closed = false

  const isFull = () => left - came >= bytes
  const release = () => {
    waiting?.resolve()
    waiting = undefined
  }
  /** Delay of the newest piece that is all there; undefined where none is. */
  function newestDelay(): Millis | undefined {
    const done = marks.filter(({ end }) => end <= came)
    marks = marks.slice(done.length)
    const newest = done.at(-1)
    return newest && now() - newest.atMs
  }
  function adapt(delay: Millis, more: Bytes, wasFull: boolean): void {
    recent.push(delay)
    if (recent.length > filtered) recent.shift()
    const steady = Math.min(...recent)
    const queued = steady - baseline.see(delay, now())
    const change = Math.max(-0.5, Math.min(1, (gain * (targetMs - queued)) / Math.max(1, steady)))
    // What is not used says nothing about how much more there could be.
    if (change > 0 && !wasFull) return
    bytes = Math.max(leastBytes, Math.min(mostBytes, bytes + change * more))
  }
  return {
    get bytes() {
      return bytes
    },
    leave(piece) {
      left += piece
      marks.push({ end: left, atMs: now() })
      if (!isFull() || closed) return undefined
      waiting ??= Promise.withResolvers()
      return waiting.promise
    },
    acknowledge(more) {
      const wasFull = left - came >= 0.75 * bytes
      came = Math.min(left, came + more)
      const delay = newestDelay()
      if (delay !== undefined) adapt(delay, more, wasFull)
      if (!isFull()) release()
    },
    close() {
      closed = true
      release()
    },
  }
}
