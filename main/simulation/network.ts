/**
 * Every peer's links on the virtual clock. A message leaves in pieces, the flows of a peer in turn, over its upload;
 * it passes the pair's own way and the receiver's download as soon as they are free, and is late by the latency.
 * So a message alone takes bytes / min(U, B, D) + L, and none of the three ever carries more than it can.
 */
import { AbortedError, PeerLostError } from '../../shared/errors.ts'
import type { PeerId } from '../../shared/ids.ts'
import { type Traffic, trafficOf, type WireMessage } from '../../shared/messages/wire.ts'
import type { Pool } from '../../shared/plan/pool.ts'
import type { Rng } from '../../shared/random.ts'
import { type Bytes, kibibyte, type Millis, second } from '../../shared/units.ts'
import { createLinkTable, type LinkTable } from '../core/planner/link-table.ts'
import type { Links, Sender } from '../core/ports.ts'
import type { SimulationClock } from './clock.ts'

export interface NetworkSettings {
  readonly clock: SimulationClock
  readonly pool: Pool
  /** A piece gets lost and is sent again with this probability. */
  readonly loss: number
  readonly rng: Rng
  /** What a message weighs on the line; its tensors are only stand-ins. */
  readonly bodyBytes: (from: PeerId, message: WireMessage) => Bytes
  /** A message has arrived. */
  readonly onTransfer?: (transfer: Transfer) => void
}

/** A message's way. */
export interface Transfer {
  readonly from: PeerId
  readonly to: PeerId
  readonly message: WireMessage
  readonly bytes: Bytes
  readonly sentMs: Millis
  readonly arrivedMs: Millis
}

/** Milliseconds that a peer's upload and download were busy. */
export interface LineUse {
  readonly uploadMs: Millis
  readonly downloadMs: Millis
}

const classes = [
  'control',
  'activations',
  'gradients',
  'parameters',
  'data',
] as const satisfies readonly Traffic[]

/** Flows take turns in pieces of at least so much; one that is alone need not. */
const sharedPiece: Bytes = 64 * kibibyte
/** Of a stream, before its writer waits: the first window of yamux. */
const sendBuffer: Bytes = 256 * kibibyte
const alonePiece: Bytes = 256 * kibibyte
/** On a fast line a piece is so long instead. */
const pieceMs: Millis = 20
/** What the ways behind the upload may hold back before a flow waits. */
const mostBacklogMs: Millis = 100
/** TCP's shortest wait before it sends again. */
const leastRetryMs: Millis = 200

interface Parcel {
  readonly message: WireMessage
  readonly bytes: Bytes
  readonly sentMs: Millis
  left: Bytes
  /** The transport took all of it. */
  taken: boolean
  readonly settle: (error?: Error) => void
}

/** Messages of one class from one peer to another, in order. */
interface Flow {
  readonly from: Endpoint
  readonly to: Endpoint
  readonly way: Way
  readonly parcels: Parcel[]
  isWaiting: boolean
}

/** From one peer to another. */
interface Way {
  readonly latencyMs: Millis
  readonly bytesPerMs: number
  freeMs: Millis
}

interface Endpoint {
  readonly peer: PeerId
  /** As others see it. */
  readonly sender: Sender
  readonly place: number
  readonly uploadPerMs: number
  readonly downloadPerMs: number
  /** To others, by their place and the class. */
  readonly flows: Map<number, Flow>
  /** Flows whose turn comes. */
  readonly ready: Flow[]
  uploadFreeMs: Millis
  /** It will serve whoever is ready when the upload is free. */
  isAwaited: boolean
  downloadFreeMs: Millis
  uploadMs: Millis
  downloadMs: Millis
  /** Counts the times that it was gone; what was under way before is lost. */
  life: number
  present: boolean
  handler: ((from: Sender, message: WireMessage) => void) | undefined
  readonly sent: Record<Traffic, Bytes>
}

interface Letter {
  readonly from: Endpoint
  readonly to: Endpoint
  /** Of `to`, when it was sent. */
  readonly life: number
  readonly message: WireMessage
}

const nothingToWaitFor = Promise.resolve()

export class SimulatedNetwork {
  readonly #settings: NetworkSettings
  readonly #table: LinkTable
  readonly #endpoints = new Map<PeerId, Endpoint>()
  /** Messages that weigh nothing, by the moment of their arrival. */
  readonly #letters = new Map<Millis, Letter[]>()

  constructor(settings: NetworkSettings) {
    this.#settings = settings
    this.#table = createLinkTable(settings.pool)
    for (const [place, peer] of settings.pool.peers.entries())
      this.#endpoints.set(peer.id, {
        sender: { peer: peer.id, standing: 'member' },
        ...{ peer: peer.id, place, flows: new Map(), ready: [], isAwaited: false },
        ...{ uploadFreeMs: 0, downloadFreeMs: 0, uploadMs: 0, downloadMs: 0 },
        uploadPerMs: peer.uploadBytesPerSecond / second,
        downloadPerMs: peer.downloadBytesPerSecond / second,
        ...{ life: 0, present: true, handler: undefined },
        sent: { control: 0, activations: 0, gradients: 0, parameters: 0, data: 0 },
      })
  }

  #endpoint(peer: PeerId): Endpoint {
    const endpoint = this.#endpoints.get(peer)
    if (endpoint === undefined) throw new PeerLostError(`peer ${peer} is not in the pool`)
    return endpoint
  }

  /** One set of links a peer. */
  linksOf(peer: PeerId): Links {
    const endpoint = this.#endpoint(peer)
    return {
      self: peer,
      send: (to, message, signal) => this.send(peer, to, message, signal),
      onMessage: (handler) => {
        endpoint.handler = handler
        return () => (endpoint.handler = undefined)
      },
      onLost: () => () => undefined,
      learnAddresses: () => Promise.resolve(),
      addresses: () => [],
      sentBytes: () => ({ ...endpoint.sent }),
    }
  }

  use(peer: PeerId): LineUse {
    const { uploadMs, downloadMs } = this.#endpoint(peer)
    return { uploadMs, downloadMs }
  }

  sentBytes(): Readonly<Record<Traffic, Bytes>> {
    const sum = { control: 0, activations: 0, gradients: 0, parameters: 0, data: 0 }
    for (const { sent } of this.#endpoints.values())
      for (const traffic of Object.keys(sum) as Traffic[]) sum[traffic] += sent[traffic]
    return sum
  }

  /** The PC is gone, and everything from and to it that is under way. */
  sever(peer: PeerId): void {
    const endpoint = this.#endpoint(peer)
    endpoint.present = false
    endpoint.life += 1
    for (const { flows } of this.#endpoints.values())
      for (const { from, to, parcels } of flows.values())
        if (from === endpoint || to === endpoint)
          for (const { settle } of parcels.splice(0)) settle(new PeerLostError(`peer ${peer} is gone`))
  }

  restore(peer: PeerId): void {
    this.#endpoint(peer).present = true
  }

  /** Resolves when the transport's buffer holds the last of it. @throws PeerLostError, AbortedError */
  send(from: PeerId, to: PeerId, message: WireMessage, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.reject(new AbortedError('the message was not sent'))
    const sender = this.#endpoint(from)
    const receiver = this.#endpoint(to)
    if (!sender.present || !receiver.present)
      return Promise.reject(new PeerLostError(`peer ${to} cannot be reached`))
    const { clock, bodyBytes } = this.#settings
    const bytes = bodyBytes(from, message)
    const traffic = trafficOf(message.header.type)
    sender.sent[traffic] += bytes
    if (bytes === 0) {
      this.#post(sender, receiver, message)
      return nothingToWaitFor
    }
    const flow = this.#flow(sender, receiver, traffic)
    return new Promise((resolve, reject) => {
      const settle = (error?: Error) => {
        if (error === undefined) resolve()
        else reject(error)
      }
      flow.parcels.push({ message, bytes, sentMs: clock.now(), left: bytes, taken: false, settle })
      this.#take(flow)
      if (flow.parcels.length === 1 && !flow.isWaiting) this.#enter(flow)
    })
  }

  /** A message without a body takes no more than the latency. */
  #post(from: Endpoint, to: Endpoint, message: WireMessage): void {
    const { clock } = this.#settings
    const letter = { from, to, life: to.life, message }
    const moment = clock.now() + this.#table.latency(from.place, to.place) * second
    const sameMoment = this.#letters.get(moment)
    if (sameMoment !== undefined) {
      sameMoment.push(letter)
      return
    }
    const fresh = [letter]
    this.#letters.set(moment, fresh)
    clock.at(moment, () => {
      this.#letters.delete(moment)
      // One receiver after the other: what each needs is then in the processor's caches, which is twice as fast.
      for (const letters of Map.groupBy(fresh, ({ to }) => to).values())
        for (const { from: sender, to: receiver, life: then, message: said } of letters)
          if (receiver.life === then) receiver.handler?.(sender.sender, said)
    })
  }

  #flow(from: Endpoint, to: Endpoint, traffic: Traffic): Flow {
    const key = to.place * classes.length + classes.indexOf(traffic)
    const known = from.flows.get(key)
    if (known !== undefined) return known
    const flow = { from, to, way: this.#way(from, to), parcels: [], isWaiting: false }
    from.flows.set(key, flow)
    return flow
  }

  /** One for all classes of a pair. */
  #way(from: Endpoint, to: Endpoint): Way {
    for (const index of classes.keys()) {
      const other = from.flows.get(to.place * classes.length + index)
      if (other !== undefined) return other.way
    }
    const latencyMs = this.#table.latency(from.place, to.place) * second
    const bytesPerMs = this.#table.bandwidth(from.place, to.place) / second
    return { latencyMs, bytesPerMs, freeMs: 0 }
  }

  #enter(flow: Flow): void {
    flow.from.ready.push(flow)
    this.#serve(flow.from)
  }

  /** Give the upload to whoever is next, now or when it is free. */
  #serve(endpoint: Endpoint): void {
    const { clock } = this.#settings
    if (endpoint.isAwaited) return
    while (endpoint.ready.length > 0 && endpoint.uploadFreeMs <= clock.now()) {
      const flow = endpoint.ready.shift()
      const parcel = flow?.parcels[0]
      if (flow !== undefined && parcel !== undefined) this.#sendPiece(flow, parcel)
    }
    if (endpoint.ready.length === 0) return
    endpoint.isAwaited = true
    clock.at(endpoint.uploadFreeMs, () => {
      endpoint.isAwaited = false
      this.#serve(endpoint)
    })
  }

  #sendPiece(flow: Flow, parcel: Parcel): void {
    const { from, to, way } = flow
    const { clock, rng, loss } = this.#settings
    const least = from.ready.length > 0 ? sharedPiece : alonePiece
    const piece = Math.min(parcel.left, Math.max(least, pieceMs * from.uploadPerMs))
    const leftMs = clock.now() + piece / from.uploadPerMs
    from.uploadFreeMs = leftMs
    from.uploadMs += piece / from.uploadPerMs
    if (loss > 0 && rng.next() < loss) {
      this.#goOn(flow, leftMs + Math.max(leastRetryMs, 2 * way.latencyMs))
      return
    }
    const arrivedMs = this.#reserve(flow, piece, leftMs)
    parcel.left -= piece
    if (parcel.left === 0) {
      flow.parcels.shift()
      if (!parcel.taken) parcel.settle()
      const { life } = to
      clock.at(arrivedMs, () => {
        if (to.life === life) this.#arrive(flow, parcel)
      })
    }
    this.#take(flow)
    this.#goOn(flow, Math.max(leftMs, arrivedMs - way.latencyMs - mostBacklogMs))
  }

  /** What fits into the transport's buffer behind what is in it already is as good as sent. */
  #take({ parcels }: Flow): void {
    let buffered = 0
    for (const parcel of parcels) {
      buffered += parcel.left
      if (buffered > sendBuffer) return
      if (!parcel.taken) parcel.settle()
      parcel.taken = true
    }
  }

  /** When a piece that leaves now is through. What is behind the upload begins with its first byte. */
  #reserve({ to, way }: Flow, piece: Bytes, leftMs: Millis): Millis {
    const now = this.#settings.clock.now()
    const enters = Math.max(now, way.freeMs)
    way.freeMs = enters + piece / way.bytesPerMs
    const begins = Math.max(enters + way.latencyMs, to.downloadFreeMs)
    to.downloadFreeMs = begins + piece / to.downloadPerMs
    to.downloadMs += piece / to.downloadPerMs
    return Math.max(Math.max(leftMs, way.freeMs) + way.latencyMs, to.downloadFreeMs)
  }

  /** The flow takes its turn again then: at once, behind the others, where only the upload holds it back. */
  #goOn(flow: Flow, nextMs: Millis): void {
    const { from, parcels } = flow
    if (nextMs <= from.uploadFreeMs) {
      if (parcels.length > 0) from.ready.push(flow)
      return
    }
    flow.isWaiting = true
    this.#settings.clock.at(nextMs, () => {
      flow.isWaiting = false
      if (parcels.length > 0) this.#enter(flow)
    })
  }

  #arrive({ from, to }: Flow, { message, bytes, sentMs }: Parcel): void {
    const arrivedMs = this.#settings.clock.now()
    this.#settings.onTransfer?.({ from: from.peer, to: to.peer, message, bytes, sentMs, arrivedMs })
    to.handler?.(from.sender, message)
  }
}
