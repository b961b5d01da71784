/**
 * How much bulk may be on its way to a peer: as much as keeps the line busy and little more, so that what follows it, in
 * this connection or another, hardly waits. The receiver acknowledges what came in and when; what the way there takes
 * longer than it once did is time spent in queues, our own socket's among them.
 *
 * @see RFC 6817, "Low Extra Delay Background Transport (LEDBAT)", whose idea this is
 */
import { mebibyte, minute, second, type Bytes, type Millis } from '../../../../shared/units.ts'
import { acknowledgedBytes, millisBetween, tenthsOf, type Acknowledgement } from './acknowledgement.ts'

/**
 * Of bulk this may wait in queues where nothing else is under way: more than an event loop is late, so the line never
 * idles, and half of what the queue of a small router holds. What that drops, everything after it waits for.
 */
const restfulMs: Millis = 25
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
/** Some acknowledgements, and no longer than a line takes to change. */
const paceOverMs: Millis = 100
/**
 * Samples, and all of a round trip: one late answer says more about this process than about the line, and of what leaves
 * in bursts only the least delay tells whether the queue ever runs empty.
 */
const filtered = 4
const mostKept = 256

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

/** When what left, until it is known to have come. */
class Ledger {
  readonly #now: () => Millis
  #marks: Mark[] = []
  #left = 0
  #came = 0
  leftAtMs: Millis = -Infinity

  constructor(now: () => Millis) {
    this.#now = now
  }

  get came(): Bytes {
    return this.#came
  }

  get underWay(): Bytes {
    return this.#left - this.#came
  }

  leave(piece: Bytes): void {
    this.leftAtMs = this.#now()
    this.#left += piece
    this.#marks.push({ end: this.#left, atMs: this.leftAtMs })
  }

  /** @param total - all that came so far, modulo 2³²; only what was sent counts @returns how much more that is */
  come(total: Bytes): Bytes {
    const more = Math.min((total - this.#came) >>> 0, this.underWay)
    this.#came += more
    return more
  }

  /** When the newest piece left that is all there; undefined where none is since this was asked. */
  newestLeftMs(): Millis | undefined {
    const done = this.#marks.filter(({ end }) => end <= this.#came)
    this.#marks = this.#marks.slice(done.length)
    return done.at(-1)?.atMs
  }
}

/** How many bytes may be under way, learned from how long the newest took. */
class Allowance {
  readonly #now: () => Millis
  readonly #yields: () => boolean
  readonly #baseline: Baseline
  readonly #recent: { readonly delay: Millis; readonly atMs: Millis }[] = []
  #shrunkAtMs = -Infinity
  bytes: Bytes = firstBytes

  constructor(now: () => Millis, yields: () => boolean) {
    this.#now = now
    this.#yields = yields
    this.#baseline = new Baseline(now())
  }

  /** @param delay - of the newest piece on its way there, but for a constant @param more - bytes that came */
  adapt(delay: Millis, roundTrip: Millis, { more, wasFull }: { more: Bytes; wasFull: boolean }): void {
    const since = this.#now() - roundTrip
    this.#recent.push({ delay, atMs: this.#now() })
    const isOld = () => this.#recent.length > mostKept || (this.#recent[0]?.atMs ?? since) < since
    while (this.#recent.length > filtered && isOld()) this.#recent.shift()
    if (this.#baseline.see(delay, this.#now())) this.bytes = leastBytes
    const queued = Math.min(...this.#recent.map((seen) => seen.delay)) - this.#baseline.least
    const wanted = ((this.#yields() ? yieldingMs : restfulMs) - queued) / Math.max(1, roundTrip)
    if (wanted < 0) this.#shrink(Math.max(-0.5, wanted), roundTrip)
    // What is not used says nothing about how much more there could be.
    else if (wasFull) this.bytes = Math.min(mostBytes, this.bytes + Math.min(1, gain * wanted) * more)
  }

  /** Once a round trip: what is seen meanwhile left before. */
  #shrink(share: number, roundTrip: Millis): void {
    if (this.#now() - this.#shrunkAtMs < roundTrip) return
    this.#shrunkAtMs = this.#now()
    this.bytes = Math.max(leastBytes, this.bytes * (1 + share))
  }
}

/** The arrivals of the last moments: at what pace bytes come in there, by the receiver's clock. */
class Arrivals {
  #seen: Mark[] = []

  /** @param end - bytes that came so far @param atMs - when, by the receiver's clock */
  see(end: Bytes, atMs: Millis): void {
    const first = this.#seen[0]
    // Its clock wraps around.
    if (first !== undefined && atMs < first.atMs) this.#seen = []
    this.#seen.push({ end, atMs })
    while ((this.#seen[1]?.atMs ?? Infinity) <= atMs - paceOverMs) this.#seen.shift()
  }

  /** Bytes a millisecond; 0 while nothing is known. */
  get pace(): number {
    const [first, last] = [this.#seen[0], this.#seen.at(-1)]
    if (first === undefined || last === undefined || last.atMs <= first.atMs) return 0
    return (last.end - first.end) / (last.atMs - first.atMs)
  }
}

/** @param yields - whether something more urgent uses the line */
export function createWindow(now: () => Millis, yields: () => boolean): Window {
  const ledger = new Ledger(now)
  const allowance = new Allowance(now, yields)
  let waiting: PromiseWithResolvers<void> | undefined
  let closed = false

  const arrivals = new Arrivals()
  const wayBack = new Baseline(now())
  /** What came in there while the newest acknowledgement waited on its way back, behind what the receiver sends itself. */
  let unheard = 0

  const isFull = () => ledger.underWay - unheard >= allowance.bytes
  const release = () => {
    waiting?.resolve()
    waiting = undefined
  }
  return {
    get bytes() {
      return allowance.bytes
    },
    leave(piece) {
      const paused = ledger.underWay === 0 && now() - ledger.leftAtMs > pauseMs
      if (paused) {
        allowance.bytes = Math.min(allowance.bytes, firstBytes)
        unheard = 0
      }
      ledger.leave(piece)
      if (!isFull() || closed) return undefined
      waiting ??= Promise.withResolvers()
      return waiting.promise
    },
    acknowledge({ bytes, atTenths }) {
      const wasFull = ledger.underWay - unheard >= 0.75 * allowance.bytes
      const more = ledger.come(bytes)
      const leftMs = ledger.newestLeftMs()
      if (leftMs !== undefined) {
        const delay = millisBetween(tenthsOf(leftMs), atTenths)
        const back = now() - leftMs - delay
        wayBack.see(back, now())
        arrivals.see(ledger.came, millisBetween(0, atTenths))
        unheard = arrivals.pace * (back - wayBack.least)
        allowance.adapt(delay, now() - leftMs, { more, wasFull })
      }
      if (!isFull()) release()
    },
    close() {
      closed = true
      release()
    },
  }
}
