/**
 * One lane to one peer: messages wait here in order and leave over one long-lived stream. A stream that breaks is
 * replaced and the unfinished message sent again from its start; the hello's sequence tells whether any got lost.
 */
import { AbortedError, PeerLostError, type PoolError } from '../../../../shared/errors.ts'
import { encodeKeepAlive } from '../../../../shared/messages/frame.ts'
import type { WireType } from '../../../../shared/messages/wire.ts'
import { gibibyte, type Bytes } from '../../../../shared/units.ts'
import type { OutgoingStream } from './outgoing.ts'

/** A peer that lets so much wait is as good as gone; nobody who awaits `send` comes near. */
const maxQueuedBytes: Bytes = gibibyte
const maxQueuedMessages = 65_536
/** Streams in a row that may break without a single message getting through. */
const maxBreaks = 2

export interface Parcel {
  readonly type: WireType
  readonly pieces: readonly Uint8Array[]
  readonly bytes: Bytes
  readonly signal: AbortSignal | undefined
  /** The transport took all of it. */
  readonly onSent: () => void
}

interface Waiting extends Parcel {
  started: boolean
  settle: (error?: PoolError) => void
}

/** What a lane needs of the link that it belongs to. */
export interface LaneEnds {
  /** A stream after its hello, which says that so many frames were sent before; `ended` when it breaks. */
  open(sequence: number, ended: () => void): Promise<OutgoingStream>
  /** The stream in use broke. */
  broke(): void
  /** Whether a stream that could not be opened `times` in a row is worth another try; may wait for the peer to come back. */
  mayRetry(error: unknown, times: number): Promise<boolean>
  /** There is no way to the peer. */
  giveUp(error: unknown): void
}

/** The lane's state and its only loop. */
export class Lane {
  readonly #ends: LaneEnds
  #queue: Waiting[] = []
  #queuedBytes = 0
  #stream: OutgoingStream | undefined
  #sent = 0
  #breaks = 0
  #running = false
  #over = false
  /** A stream is wanted although nothing waits. */
  #wanted = false
  /** The stream's hello is out of date. */
  #stale = false

  constructor(ends: LaneEnds) {
    this.#ends = ends
  }

  get isOpen(): boolean {
    return this.#stream !== undefined
  }

  /** Nothing waits, nothing is being sent. */
  get isQuiet(): boolean {
    return this.#queue.length === 0
  }

  /** Resolves when the transport took the parcel. @throws PeerLostError, RefusedError, AbortedError */
  send(parcel: Parcel): Promise<void> {
    if (this.#over) return Promise.reject(new PeerLostError('the peer is gone'))
    if (this.#queuedBytes + parcel.bytes > maxQueuedBytes || this.#queue.length >= maxQueuedMessages)
      return Promise.reject(new PeerLostError('the peer is too slow: too much waits for it'))
    const { promise, resolve, reject } = Promise.withResolvers<undefined>()
    const waiting: Waiting = {
      ...parcel,
      started: false,
      settle: (error) => {
        parcel.signal?.removeEventListener('abort', onAbort)
        if (error === undefined) resolve(undefined)
        else reject(error)
      },
    }
    const onAbort = (): void => {
      if (!waiting.started) this.#take(waiting)
      waiting.settle(new AbortedError('the sending was stopped'))
    }
    parcel.signal?.addEventListener('abort', onAbort)
    this.#queue.push(waiting)
    this.#queuedBytes += parcel.bytes
    this.#wake()
    return promise
  }

  /** Have a stream, now, whether or not something waits. */
  connect(): void {
    this.#wanted = true
    this.#wake()
  }

  /** Say hello anew on a fresh stream, after what is being sent. */
  renew(): void {
    if (this.#stream === undefined) return
    this.#stale = true
    this.connect()
  }

  /** Tell the peer that we live, unless messages do. */
  keepAlive(): void {
    if (this.#stream !== undefined && !this.#running)
      this.#stream.write([encodeKeepAlive()]).catch(() => undefined)
  }

  /** No more; everything that waits fails with its error. */
  end(errorFor: (type: WireType) => PoolError, reason: string): void {
    this.#over = true
    this.#stream?.abort(reason)
    this.#stream = undefined
    const failed = this.#queue
    this.#queue = []
    for (const waiting of failed) waiting.settle(errorFor(waiting.type))
  }

  #take(waiting: Waiting): void {
    const at = this.#queue.indexOf(waiting)
    if (at < 0) return
    this.#queue.splice(at, 1)
    this.#queuedBytes -= waiting.bytes
  }

  #wake(): void {
    if (this.#running || this.#over) return
    this.#running = true
    void this.#run().finally(() => {
      this.#running = false
      if (this.#hasWork()) this.#wake()
    })
  }

  #hasWork(): boolean {
    return !this.#over && (this.#queue.length > 0 || this.#wanted)
  }

  async #run(): Promise<void> {
    try {
      while (this.#hasWork()) {
        const stream = await this.#ready()
        if (stream === undefined) continue
        this.#wanted = false
        await this.#sendFirst(stream)
      }
    } catch (error) {
      this.#wanted = false
      this.#ends.giveUp(error)
    }
  }

  /** The stream to send on. @returns undefined where opening failed and is to be tried again */
  async #ready(): Promise<OutgoingStream | undefined> {
    if (this.#stale) {
      const old = this.#stream
      this.#stale = false
      this.#stream = undefined
      await old?.close()
    }
    if (this.#stream !== undefined) return this.#stream
    try {
      return await this.#open()
    } catch (error) {
      if (this.#over) return undefined
      this.#breaks++
      if (this.#breaks > maxBreaks || !(await this.#ends.mayRetry(error, this.#breaks))) throw error
      return undefined
    }
  }

  async #open(): Promise<OutgoingStream | undefined> {
    let opened: OutgoingStream | undefined = undefined
    const ended = (): void => {
      if (opened === undefined || this.#stream !== opened) return
      this.#stream = undefined
      this.#ends.broke()
    }
    opened = await this.#ends.open(this.#sent, ended)
    if (this.#over) {
      opened.abort('nobody waits for this stream any more')
      return undefined
    }
    this.#stream = opened
    if (this.#queue.length === 0) this.#breaks = 0
    return opened
  }

  async #sendFirst(stream: OutgoingStream): Promise<void> {
    const first = this.#queue[0]
    if (first === undefined) return
    first.started = true
    try {
      await stream.write(first.pieces)
    } catch (error) {
      if (this.#stream === stream) this.#stream = undefined
      if (this.#over) return
      this.#breaks++
      if (this.#breaks > maxBreaks) throw error
      return
    }
    this.#breaks = 0
    this.#sent++
    this.#take(first)
    first.onSent()
    first.settle()
  }
}
