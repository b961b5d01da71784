/**
 * Everything between us and one other peer of the job: four lanes out, the streams that it opened, and the one
 * question whether it is still there.
 *
 * A broken stream is opened again at once. The peer is lost when that is refused, when it does not come back
 * within the grace, when it falls silent, or when the counts of sent and received messages disagree.
 */
import { randomBytes } from 'node:crypto'
import { BadMessageError, PeerLostError, RefusedError, type PoolError } from '../../../../shared/errors.ts'
import type { JobId, PeerId } from '../../../../shared/ids.ts'
import type { Certificate, WireType } from '../../../../shared/messages/wire.ts'
import { second, type Millis } from '../../../../shared/units.ts'
import type { Sender } from '../../../core/ports.ts'
import { clonedIdentity, laneNames, type Answer, type Hello, type LaneName } from './hello.ts'
import { Lane, type Parcel } from './lane.ts'
import type { OutgoingEvents, OutgoingStream } from './outgoing.ts'

/** What a link needs of the job's links and the network. */
export interface LinkPorts {
  readonly job: JobId
  certificate(): Certificate | null
  /** A stream to the peer after its hello; dials where there is no connection. */
  open(hello: Hello, events: OutgoingEvents, signal: AbortSignal): Promise<OutgoingStream>
  now(): Millis
  /** How long a peer whose connection broke may take to come back. */
  readonly graceMs: Millis
  /** Once, when the peer is lost. `exchanged`: messages went to or came from it. */
  onLost(reason: string, exchanged: boolean): void
  /** End every connection to the peer. */
  hangUp(reason: string): void
  /** A control stream that broke stands again. */
  onRepaired(): void
  /** The peer took our certificate and showed us its own: it is of this standing. */
  onAccepted(standing: Sender['standing']): void
}

/** On a slow line a new stream waits behind bulk that is on its way already. */
const openWithinMs = 30 * second
/** Repairs in a row without one message from the peer: it takes our streams only to break them. */
const maxRepairs = 5

/** Whether every address of a peer said that nobody listens there: the process is gone, not the line. */
function nobodyListens(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(nobodyListens)
  if (!(error instanceof Error)) return false
  return error.message.includes('ECONNREFUSED') || nobodyListens(error.cause)
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** A stream that the peer opened. */
export interface Arriving {
  readonly abort: (reason: string) => void
  /** Names the connection that it came over. */
  readonly connection: string
}

export class PeerLink {
  readonly peer: PeerId
  readonly #ports: LinkPorts
  /** Our name for this link: a new one tells the peer that we began anew. */
  readonly #name = randomBytes(8).toString('hex')
  readonly #lanes: Readonly<Record<LaneName, Lane>>
  readonly #arrivals = new Map<LaneName, { abort: (reason: string) => void; connection: string }>()
  readonly #received: Record<LaneName, number> = { control: 0, pipeline: 0, parameters: 0, data: 0 }
  readonly #stop = new AbortController()
  readonly #waitingForReturn = new Set<() => void>()
  #theirName: string | undefined
  #standing: Sender['standing'] = 'stranger'
  #connectedOnce = false
  #exchanged = false
  #heardAt: Millis
  #accepted = false
  #repairs = 0
  #lost = false

  constructor(peer: PeerId, ports: LinkPorts) {
    this.peer = peer
    this.#ports = ports
    this.#heardAt = ports.now()
    const lane = (name: LaneName): Lane =>
      new Lane({
        open: (sequence, ended) => this.#openLane(name, sequence, ended),
        broke: () => {
          if (name === 'control') this.#repair()
        },
        mayRetry: (error, times) => this.#mayRetry(error, times),
        giveUp: (error) => {
          this.#giveUp(error)
        },
      })
    this.#lanes = {
      control: lane('control'),
      pipeline: lane('pipeline'),
      parameters: lane('parameters'),
      data: lane('data'),
    }
  }

  get exchanged(): boolean {
    return this.#exchanged
  }
  get silentMs(): Millis {
    return this.#ports.now() - this.#heardAt
  }
  /** Whether the peer ever opened a stream of this link. */
  get hasArrivals(): boolean {
    return this.#theirName !== undefined
  }
  /** Whether a stream of the peer's stands that did not come over this connection. */
  standsElsewhere(connection: string): boolean {
    return [...this.#arrivals.values()].some((arrival) => arrival.connection !== connection)
  }
  /** Nothing connects us: no stream of theirs, none of ours, nothing waiting. */
  get isIdle(): boolean {
    return (
      this.#arrivals.size === 0 &&
      laneNames.every((name) => !this.#lanes[name].isOpen && this.#lanes[name].isQuiet)
    )
  }

  heard(): void {
    this.#heardAt = this.#ports.now()
  }
  markExchanged(): void {
    this.#exchanged = true
  }

  /** @throws PeerLostError; RefusedError for a `join-request` to a peer that is not in the job */
  async send(lane: LaneName, parcel: Parcel): Promise<void> {
    await this.#lanes[lane].send(parcel)
    this.markExchanged()
  }

  /** Say hello anew on every open stream: our certificate changed. */
  renew(): void {
    for (const name of laneNames) this.#lanes[name].renew()
  }

  keepAlive(): void {
    this.#lanes.control.keepAlive()
  }

  /** Whether a hello that names another link comes from a peer that began anew. */
  isReplacedBy(hello: Hello): boolean {
    return this.#theirName !== undefined && this.#theirName !== hello.link
  }

  /**
   * Take a stream of the peer's. Strangers' messages are refused one by one and may not be counted alike on both
   * sides, so their counts are taken as they come.
   */
  admit(hello: Hello, standing: Sender['standing'], { abort, connection }: Arriving): Answer {
    const isNew = this.#theirName === undefined
    const counts = isNew ? standing !== 'stranger' : this.#standing !== 'stranger'
    if (counts && hello.sequence !== this.#received[hello.lane]) return 'out-of-step'
    this.#theirName = hello.link
    this.#standing = standing
    this.#received[hello.lane] = hello.sequence
    this.#arrivals.get(hello.lane)?.abort('a newer stream takes its place')
    this.#arrivals.set(hello.lane, { abort, connection })
    this.#connectedOnce = true
    this.heard()
    for (const returned of this.#waitingForReturn) returned()
    this.#tellAccepted()
    return 'welcome'
  }

  /** One message of the lane came in whole. */
  count(lane: LaneName): void {
    this.#received[lane]++
    this.#repairs = 0
  }

  arrivalEnded(lane: LaneName, abort: (reason: string) => void): void {
    if (this.#arrivals.get(lane)?.abort !== abort) return
    this.#arrivals.delete(lane)
    if (lane === 'control') this.#repair()
  }

  /** End the link. Whoever waits for it gets the reason. */
  lose(reason: string, errorFor?: (type: WireType) => PoolError): void {
    if (this.#lost) return
    this.#lost = true
    this.#stop.abort()
    const error = errorFor ?? ((): PoolError => new PeerLostError(`peer ${this.peer} is gone: ${reason}`))
    for (const name of laneNames) this.#lanes[name].end(error, reason)
    for (const { abort } of this.#arrivals.values()) abort(reason)
    this.#arrivals.clear()
    for (const returned of this.#waitingForReturn) returned()
    this.#ports.onLost(reason, this.#exchanged)
  }

  /** A control stream broke: have one again, or learn that the peer is gone. */
  #repair(): void {
    if (this.#lost || !this.#exchanged || this.#lanes.control.isOpen) return
    if (++this.#repairs > maxRepairs) this.lose('it breaks every stream')
    else this.#lanes.control.connect()
  }

  #tellAccepted(): void {
    if (this.#accepted && this.#standing !== 'stranger') this.#ports.onAccepted(this.#standing)
  }

  async #openLane(name: LaneName, sequence: number, ended: () => void): Promise<OutgoingStream> {
    const hello: Hello = {
      hello: 2,
      job: this.#ports.job,
      certificate: this.#ports.certificate(),
      lane: name,
      link: this.#name,
      sequence,
    }
    const events = {
      ended,
      heard: () => {
        this.heard()
      },
    }
    // Control first: its keep-alives watch over the other lanes.
    if (name !== 'control' && !this.#lanes.control.isOpen) this.#lanes.control.connect()
    const connected = this.#lanes.control.isOpen || this.#arrivals.size > 0 || !this.#connectedOnce
    const limit = AbortSignal.timeout(connected ? openWithinMs : this.#ports.graceMs)
    const stream = await this.#ports.open(hello, events, AbortSignal.any([this.#stop.signal, limit]))
    this.#connectedOnce = true
    this.heard()
    if (name === 'control' && this.#repairs > 0) this.#ports.onRepaired()
    this.#accepted ||= hello.certificate !== null
    this.#tellAccepted()
    return stream
  }

  /**
   * After a failed attempt to reach a peer that was there before: try once more soon, for it may have been caught
   * closing, then give it the grace to reach us.
   */
  async #mayRetry(error: unknown, times: number): Promise<boolean> {
    if (this.#lost || !this.#connectedOnce) return false
    if (error instanceof RefusedError || nobodyListens(error)) return false
    if (this.#arrivals.has('control')) return true
    if (times > 1) return this.#returnsWithin(this.#ports.graceMs)
    await this.#returnsWithin(this.#ports.graceMs / 5)
    return !this.#lost
  }

  #returnsWithin(durationMs: Millis): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (): void => {
        clearTimeout(timer)
        this.#waitingForReturn.delete(settle)
        resolve(!this.#lost && this.#arrivals.has('control'))
      }
      const timer = setTimeout(settle, durationMs)
      timer.unref()
      this.#waitingForReturn.add(settle)
    })
  }

  #giveUp(error: unknown): void {
    if (error instanceof RefusedError && error.code === 'unknown-job') {
      this.lose('it left the job', (type) =>
        type === 'join-request' || type === 'job-summary-request'
          ? new RefusedError(
              'unknown-job',
              'that computer does not host this job, or no more: ask for a new invite',
            )
          : new PeerLostError(`peer ${this.peer} takes no part in this job`),
      )
      return
    }
    if (error instanceof RefusedError && error.code === clonedIdentity) {
      this.lose(error.message, () => new RefusedError(clonedIdentity, error.message))
      // What the peer sends to the other of us must not come here.
      this.#ports.hangUp(error.message)
      return
    }
    if (error instanceof RefusedError || error instanceof BadMessageError) this.lose(error.message)
    else
      this.lose(
        this.#connectedOnce
          ? 'its connection broke and it cannot be reached again'
          : `it cannot be reached: ${textOf(error)}`,
      )
  }
}
