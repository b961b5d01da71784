/**
 * How much bulk may be on its way to a peer: as much as keeps the line busy and little more, so that what follows it, in
 * this connection or another, hardly waits. The receiver acknowledges what came in and when; what the way there takes
 * longer than it once did is time spent in queues, our own socket's among them.
 *
 * @see RFC 6817, "Low Extra Delay Background Transport (LEDBAT)", whose idea this is
 */
import { mebibyte, minute, second, type Bytes, type Millis } from '../../../../shared/units.ts'
import { acknowledgedBytes, millisBetween, tenthsOf, type Acknowledgement } from './acknowledgement.ts'

/** Of bulk this may wait in queues where nothing else is under way: more than an event loop is late, so the line never idles. */
const restfulMs: Millis = 40
/** And where micro-batches use the line: less than a micro-batch itself takes. */
const yieldingMs: Millis = 2
/** Two acknowledgements; more than the line takes, where it is slower than some Mbit/s. */
const leastBytes: Bytes = 2 * acknowledgedBytes
const firstBytes: Bytes = 8 * acknowledgedBytes
const mostBytes: Bytes = 4 * mebibyte
/** How much of what is too little in the queues is made good with one round trip. Of what is too much, all. */
const gain = 0.25
/** What was right before such a pause may flood the line now. */
const pauseMs: Millis = second / 2
/**
 * The least delay of one to two such times is that of the line without queues. Short, for the two clocks drift apart:
 * some milliseconds in it. The queue is let run empty when one is over, or the next would not know an empty one.
 */
const memoryMs: Millis = minute
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
  acknowledge(said: Acknowledgement): void
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

  /** @returns whether a period is over */
  see(delay: Millis, now: Millis): boolean {
    const isOver = now - this.#sinceMs > memoryMs
    if (isOver) {
      this.#before = this.#least
      this.#least = Infinity
      this.#sinceMs = now
    }
    this.#least = Math.min(this.#least, delay)
    return isOver
  }

  get least(): Millis {
    return Math.min(this.#least, this.#before)
  }
}

/** @param yields - whether something more urgent uses the line */
export function createWindow(now: () => Millis, yields: () => boolean): Window {
  const baseline = new Baseline(now())
  const recent: Millis[] = []
  let marks: Mark[] = []
  let bytes: Bytes = firstBytes
  let left = 0
  let came = 0
  let shrunkAtMs = -Infinity
  let leftAtMs = -Infinity
  let waiting: PromiseWithResolvers<void> | undefined
  let closed = false

  const isFull = () => left - came >= bytes
  const release = () => {
    waiting?.resolve()
    waiting = undefined
  }
  /** When the newest piece left that is all there; undefined where none is. */
  function newestLeft(): Millis | undefined {
    const done = marks.filter(({ end }) => end <= came)
    marks = marks.slice(done.length)
    return done.at(-1)?.atMs
  }
  function adapt(delay: Millis, roundTrip: Millis, more: Bytes): void {
    const wasFull = left - came + more >= 0.75 * bytes
    recent.push(delay)
    if (recent.length > filtered) recent.shift()
    if (baseline.see(delay, now())) bytes = leastBytes
    const queued = Math.min(...recent) - baseline.least
    const wanted = ((yields() ? yieldingMs : restfulMs) - queued) / Math.max(1, roundTrip)
    if (wanted < 0) shrink(Math.max(-0.5, wanted), roundTrip)
    // What is not used says nothing about how much more there could be.
    else if (wasFull) bytes = Math.min(mostBytes, bytes + Math.min(1, gain * wanted) * more)
  }
  /** Once a round trip: what is seen meanwhile left before. */
  function shrink(share: number, roundTrip: Millis): void {
    if (now() - shrunkAtMs < roundTrip) return
    shrunkAtMs = now()
    bytes = Math.max(leastBytes, bytes * (1 + share))
  }
  return {
    get bytes() {
      return bytes
    },
    leave(piece) {
      if (left === came && now() - leftAtMs > pauseMs) bytes = Math.min(bytes, firstBytes)
      leftAtMs = now()
      left += piece
      marks.push({ end: left, atMs: now() })
      if (!isFull() || closed) return undefined
      waiting ??= Promise.withResolvers()
      return waiting.promise
    },
    acknowledge(said) {
      // Of what it says only that counts which we sent.
      const more = Math.min((said.bytes - came) >>> 0, left - came)
      came += more
      const leftMs = newestLeft()
      if (leftMs !== undefined) adapt(millisBetween(tenthsOf(leftMs), said.atTenths), now() - leftMs, more)
      if (!isFull()) release()
    },
    close() {
      closed = true
      release()
    },
  }
}
