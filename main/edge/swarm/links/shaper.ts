/** What this PC's line may carry: every byte of every lane is counted here, and waits here for its turn under a cap. */
import { kibibyte, second, type Bytes, type BytesPerSecond, type Millis } from '../../../../shared/units.ts'
import type { Clock } from '../../../core/ports.ts'
import type { Rank } from './hello.ts'
import type { Line } from './line.ts'

/** Below this no heartbeat gets through in time: a lower cap counts as this one. */
const leastBytesPerSecond: BytesPerSecond = 8 * kibibyte
/** A second of the cap's bytes and a full bucket may leave within one second; what is left to 1.1 is for what we do not see. */
const burstSeconds = 0.05
/** A cap that changes while something waits for it holds within so long. */
const longestNap: Millis = second / 4

/** Whole milliseconds: a timer knows no less, and what is less than one would be waited for for ever. */
const napFor = (wait: Millis): Millis => Math.min(Math.ceil(wait), longestNap)

/** Header bytes that a stream's piece gets on its way: yamux and TLS once, TCP and IP in every packet. */
const pieceHeaderBytes: Bytes = 34
const packetHeaderBytes: Bytes = 40
const packetPayloadBytes: Bytes = 1400
/** What comes in is answered by a window update of the stream and an acknowledgement. */
const answerBytes: Bytes = 80

/** Since its last micro-batch left a pipeline rests, or has none. */
const pipelineRestsMs: Millis = second / 2

/** Bytes of a piece on the line, an upper bound. */
export function bytesOnLine(bytes: Bytes): Bytes {
  const framed = bytes + pieceHeaderBytes
  return framed + packetHeaderBytes * Math.ceil(framed / packetPayloadBytes)
}

export interface Caps {
  /** 0: none. */
  readonly uploadBytesPerSecond: BytesPerSecond
  readonly downloadBytesPerSecond: BytesPerSecond
}

export interface TrafficCount {
  readonly sentBytes: Bytes
  readonly receivedBytes: Bytes
}

export interface Shaper {
  setCaps(caps: Caps): void
  /** Bytes of our lanes since the start, frames and all, without what the transport adds. */
  traffic(): TrafficCount
  /** The most that may be sent as one piece now, of what the transport takes. */
  pieceBytes(most: Bytes): Bytes
  /** Count a piece that is about to be sent; when a promise comes back, wait for it. Lower ranks go first. */
  leave(bytes: Bytes, rank: Rank, line: Line): Promise<void> | undefined
  /** Whether micro-batches use this line these days: bulk keeps its queues shorter then. */
  isPipelineBusy(line: Line): boolean
  /** Count what came in; when a promise comes back, read no more before it resolves. */
  arrive(bytes: Bytes, urgent: boolean): Promise<void> | undefined
}

/** Tokens that accrue with time up to a full bucket. May be overdrawn. */
class Bucket {
  readonly #clock: Clock
  #rate: BytesPerSecond = 0
  #tokens: Bytes = 0
  #atMs: Millis

  constructor(clock: Clock) {
    this.#clock = clock
    this.#atMs = clock.now()
  }

  get isOpen(): boolean {
    return this.#rate === 0
  }
  get size(): Bytes {
    return this.#rate * burstSeconds
  }

  /** An empty bucket where there was none: what left before the cap does not count against it. */
  setRate(rate: BytesPerSecond): void {
    this.#refill()
    if (this.#rate === 0) this.#tokens = 0
    this.#rate = rate === 0 ? 0 : Math.max(rate, leastBytesPerSecond)
    this.#tokens = Math.min(this.#tokens, this.size)
  }

  /** Time until so many tokens are there; more than the bucket holds are never waited for. */
  waitFor(tokens: Bytes): Millis {
    if (this.isOpen) return 0
    this.#refill()
    const missing = Math.min(tokens, this.size) - this.#tokens
    return missing <= 0 ? 0 : (missing / this.#rate) * second
  }

  take(tokens: Bytes): void {
    if (this.isOpen) return
    this.#refill()
    this.#tokens -= tokens
  }

  #refill(): void {
    const now = this.#clock.now()
    this.#tokens = Math.min(this.size, this.#tokens + (this.#rate * (now - this.#atMs)) / second)
    this.#atMs = now
  }
}

interface Waiter {
  readonly tokens: Bytes
  readonly go: () => void
}

/** Pieces that wait for tokens, by rank, and those of one rank in the order they came. */
class Queue {
  readonly #clock: Clock
  readonly #bucket: Bucket
  readonly #waiting: Readonly<Record<Rank, Waiter[]>> = { 0: [], 1: [], 2: [] }
  #serving = false

  constructor(clock: Clock, bucket: Bucket) {
    this.#clock = clock
    this.#bucket = bucket
  }

  get isEmpty(): boolean {
    return this.#first === undefined
  }

  enter(tokens: Bytes, rank: Rank): Promise<void> {
    return new Promise((go) => {
      this.#waiting[rank].push({ tokens, go })
      if (!this.#serving) void this.#serve()
    })
  }

  async #serve(): Promise<void> {
    this.#serving = true
    for (let line = this.#first; line?.[0] !== undefined; line = this.#first) {
      const wait = this.#bucket.waitFor(line[0].tokens)
      // Whoever comes meanwhile may be more urgent.
      if (wait > 0) await this.#clock.sleep(napFor(wait))
      else this.#release(line)
    }
    this.#serving = false
  }

  /** Those whose turn it is. */
  get #first(): Waiter[] | undefined {
    const { 0: control, 1: pipeline, 2: bulk } = this.#waiting
    return [control, pipeline, bulk].find(({ length }) => length > 0)
  }

  #release(line: Waiter[]): void {
    const waiter = line.shift()
    if (waiter === undefined) return
    this.#bucket.take(waiter.tokens)
    waiter.go()
  }
}

export function createShaper(clock: Clock): Shaper {
  const upload = new Bucket(clock)
  const download = new Bucket(clock)
  const queue = new Queue(clock, upload)
  let sentBytes = 0
  let receivedBytes = 0
  const pipelineAtMs: Record<Line, Millis> = { local: -Infinity, beyond: -Infinity }

  async function payOff(): Promise<void> {
    for (let wait = download.waitFor(0); wait > 0; wait = download.waitFor(0)) await clock.sleep(napFor(wait))
  }
  return {
    setCaps(caps) {
      upload.setRate(caps.uploadBytesPerSecond)
      download.setRate(caps.downloadBytesPerSecond)
    },
    traffic: () => ({ sentBytes, receivedBytes }),
    pieceBytes(most) {
      if (upload.isOpen) return most
      // Half a bucket, so that a timer that is late costs no tokens; headers weigh too much on less than a packet.
      const room = Math.max(upload.size / 2, Math.min(upload.size, packetPayloadBytes))
      const headers = pieceHeaderBytes + packetHeaderBytes * Math.ceil(room / packetPayloadBytes)
      return Math.max(1, Math.min(most, Math.floor(room - headers)))
    },
    leave(bytes, rank, line) {
      sentBytes += bytes
      if (rank === 1) pipelineAtMs[line] = clock.now()
      if (upload.isOpen && queue.isEmpty) return undefined
      return queue.enter(bytesOnLine(bytes), rank)
    },
    isPipelineBusy: (line) => clock.now() - pipelineAtMs[line] < pipelineRestsMs,
    arrive(bytes, urgent) {
      receivedBytes += bytes
      upload.take(answerBytes)
      download.take(bytes)
      return urgent || download.waitFor(0) === 0 ? undefined : payOff()
    },
  }
}
