/** Many peers' links in one process: in order within a traffic class, late by seeded chance, cut when told. */
import type { Clock, Links, Sender } from '../../main/core/ports.ts'
import { AbortedError, PeerLostError } from '../../shared/errors.ts'
import type { PeerId } from '../../shared/ids.ts'
import { type Traffic, type WireMessage, trafficOf, wireHeader } from '../../shared/messages/wire.ts'
import { type Rng, createRng } from '../../shared/random.ts'
import type { HostTensor } from '../../shared/tensor.ts'
import type { Millis } from '../../shared/units.ts'

export interface FakeNetworkSettings {
  readonly clock: Clock
  readonly seed?: number
  /** Each message is under way for so long, drawn anew; default none. */
  readonly delayMs?: readonly [least: Millis, most: Millis]
  /** Of each peer's line upwards, which all parameters share, one message after the other; default no limit. */
  readonly uploadBytesPerSecond?: number
  /** Messages of a class and a pair under way before `send` waits; default no limit. */
  readonly window?: number
  /** Sees every message that arrives. */
  readonly tap?: (from: PeerId, to: PeerId, message: WireMessage) => void
  /** Messages that get lost on the way, though nobody is gone. */
  readonly drop?: (from: PeerId, to: PeerId, message: WireMessage) => boolean
  /** A message that comes a second time, so much later: no honest peer's would. */
  readonly again?: (from: PeerId, to: PeerId, message: WireMessage) => Millis | undefined
}

export interface FakeNetwork {
  /** The links of a peer; the same object every time. */
  linksOf(peer: PeerId): Links
  /** The peer is gone: what it sent and what is sent to it is lost, everyone else hears of it. */
  sever(peer: PeerId, reason?: string): Promise<void>
  /** From now on messages from and to the peer take so much longer, and none arrives before that moment. */
  hinder(peer: PeerId, hindrance: { readonly slowerMs?: Millis; readonly frozenUntilMs?: Millis }): void
  /** Two peers cannot reach each other, and hear so. */
  part(one: PeerId, other: PeerId): Promise<void>
  /** They can again. */
  mend(): void
  /** The severed peer's program was started anew: it has new links, those of the old one stay dead. */
  restart(peer: PeerId): void
}

type Handler = (from: Sender, message: WireMessage) => void

interface Endpoint {
  readonly links: Links
  readonly handlers: Set<Handler>
  readonly lostHandlers: Set<(peer: PeerId, reason: string) => void>
  readonly sent: Record<Traffic, number>
  dead: boolean
  /** Until then its line upwards is taken. */
  busyUntilMs: Millis
}

/** One class of messages from one peer to another. */
interface Channel {
  last: Promise<void>
  lastDue: Millis
  underWay: number
  waiting: (() => void)[]
}

/** A copy, as bytes on a wire are: a sender that changes a tensor after sending it is found out, if it does so in time. */
function copyOf({ header, tensors }: WireMessage): WireMessage {
  // Ballast is megabytes that nobody looks at.
  const isBallast = header.type === 'probe' || header.type === 'probe-reply'
  return {
    header: wireHeader.parse(header),
    tensors: isBallast ? tensors : tensors.map((one) => ({ ...one, data: one.data.slice() })),
  }
}

function bytesOf(tensors: readonly HostTensor[]): number {
  return tensors.reduce((sum, { data }) => sum + data.byteLength, 0)
}

const pairOf = (one: PeerId, other: PeerId) => (one < other ? `${one} ${other}` : `${other} ${one}`)

function release(channel: Channel): void {
  const longest = channel.waiting.shift()
  if (longest === undefined) channel.underWay -= 1
  else longest()
}

/** Scenarios call the one who hosts by this name. */
const standingOf = (peer: PeerId) => (peer === 'host' ? 'host' : 'member')

export function createFakeNetwork(settings: FakeNetworkSettings): FakeNetwork {
  return new Network(settings)
}

class Network implements FakeNetwork {
  readonly #settings: FakeNetworkSettings
  readonly #rng: Rng
  readonly #endpoints = new Map<PeerId, Endpoint>()
  readonly #channels = new Map<string, Channel>()
  readonly #severed = new Set<PeerId>()
  readonly #parted = new Set<string>()
  readonly #hindered = new Map<PeerId, { readonly slowerMs: Millis; readonly frozenUntilMs: Millis }>()

  constructor(settings: FakeNetworkSettings) {
    this.#settings = settings
    this.#rng = createRng(settings.seed ?? 0)
  }

  linksOf(peer: PeerId): Links {
    return this.#endpoint(peer).links
  }

  async sever(peer: PeerId, reason = 'connection lost'): Promise<void> {
    this.#severed.add(peer)
    await this.#settings.clock.sleep(0)
    for (const [other, { lostHandlers }] of this.#endpoints)
      if (other !== peer) for (const handler of lostHandlers) handler(peer, reason)
  }

  hinder(peer: PeerId, { slowerMs = 0, frozenUntilMs = 0 }: Parameters<FakeNetwork['hinder']>[1]): void {
    this.#hindered.set(peer, { slowerMs, frozenUntilMs })
  }

  async part(one: PeerId, other: PeerId): Promise<void> {
    this.#parted.add(pairOf(one, other))
    await this.#settings.clock.sleep(0)
    for (const handler of this.#endpoint(one).lostHandlers) handler(other, 'cannot be reached')
    for (const handler of this.#endpoint(other).lostHandlers) handler(one, 'cannot be reached')
  }

  mend(): void {
    this.#parted.clear()
  }

  restart(peer: PeerId): void {
    const old = this.#endpoints.get(peer)
    if (old !== undefined) old.dead = true
    this.#endpoints.delete(peer)
    this.#severed.delete(peer)
    for (const name of [...this.#channels.keys()])
      if ((JSON.parse(name) as string[]).slice(0, 2).includes(peer)) this.#channels.delete(name)
  }

  #endpoint(self: PeerId): Endpoint {
    const known = this.#endpoints.get(self)
    if (known !== undefined) return known
    const handlers = new Set<Handler>()
    const lostHandlers = new Set<(peer: PeerId, reason: string) => void>()
    const sent = { control: 0, activations: 0, gradients: 0, parameters: 0, data: 0 }
    const send: Links['send'] = (to, message, signal) => this.#send(self, to, message, signal)
    const links: Links = {
      self,
      send(to, message, signal) {
        if (endpoint.dead) return Promise.reject(new PeerLostError(`peer ${to} cannot be reached`))
        return send(to, message, signal)
      },
      onMessage: (handler) => {
        handlers.add(handler)
        return () => handlers.delete(handler)
      },
      onLost: (handler) => {
        lostHandlers.add(handler)
        return () => lostHandlers.delete(handler)
      },
      learnAddresses: () => Promise.resolve(),
      addresses: () => [`/memory/${self}`],
      sentBytes: () => ({ ...sent }),
    }
    const endpoint: Endpoint = { links, handlers, lostHandlers, sent, dead: false, busyUntilMs: 0 }
    this.#endpoints.set(self, endpoint)
    return endpoint
  }

  #channel(from: PeerId, to: PeerId, traffic: Traffic): Channel {
    const name = JSON.stringify([from, to, traffic])
    const channel = this.#channels.get(name) ?? {
      last: Promise.resolve(),
      lastDue: 0,
      underWay: 0,
      waiting: [],
    }
    this.#channels.set(name, channel)
    return channel
  }

  #check(from: PeerId, to: PeerId, signal: AbortSignal | undefined): void {
    if (signal?.aborted === true) throw new AbortedError('the message was not sent')
    if (this.#parted.has(pairOf(from, to))) throw new PeerLostError(`peer ${to} cannot be reached`)
    for (const peer of [from, to])
      if (this.#severed.has(peer)) throw new PeerLostError(`peer ${peer} cannot be reached`)
  }

  async #send(from: PeerId, to: PeerId, message: WireMessage, signal?: AbortSignal): Promise<void> {
    const sender = this.#endpoint(from)
    this.#check(from, to, signal)
    const traffic = trafficOf(message.header.type)
    const channel = this.#channel(from, to, traffic)
    const { window = Infinity, clock, delayMs = [0, 0] } = this.#settings
    // A slot that gets free goes straight to who waited longest: order holds for senders that do not wait, too.
    if (channel.underWay < window) channel.underWay += 1
    else await new Promise<void>((resolve) => channel.waiting.push(resolve))
    try {
      this.#check(from, to, signal)
    } catch (error) {
      release(channel)
      throw error
    }
    if (from !== to) this.#endpoint(from).sent[traffic] += bytesOf(message.tensors)
    const onLine = from !== to && traffic === 'parameters'
    const sentMs = onLine ? this.#uploadedAtMs(from, bytesOf(message.tensors)) : clock.now()
    const due = sentMs + delayMs[0] + this.#rng.next() * (delayMs[1] - delayMs[0])
    channel.lastDue = Math.max(channel.lastDue, this.#hinderedDue(from, to, due))
    const late = channel.lastDue - clock.now()
    const arrival = Promise.all([channel.last, late > 0 ? clock.sleep(late) : undefined])
    channel.last = arrival.then(() => {
      release(channel)
      if (!sender.dead) this.#arrive(from, to, message)
    })
  }

  #uploadedAtMs(from: PeerId, bytes: number): Millis {
    const { clock, uploadBytesPerSecond } = this.#settings
    const endpoint = this.#endpoint(from)
    if (uploadBytesPerSecond === undefined || bytes === 0) return clock.now()
    endpoint.busyUntilMs = Math.max(endpoint.busyUntilMs, clock.now()) + (1000 * bytes) / uploadBytesPerSecond
    return endpoint.busyUntilMs
  }

  #hinderedDue(from: PeerId, to: PeerId, due: Millis): Millis {
    return [from, to].reduce((later, peer) => {
      const { slowerMs = 0, frozenUntilMs = 0 } = this.#hindered.get(peer) ?? {}
      return Math.max(later + slowerMs, frozenUntilMs)
    }, due)
  }

  #arrive(from: PeerId, to: PeerId, message: WireMessage): void {
    if (this.#settings.drop?.(from, to, message) === true) return
    this.#deliver(from, to, message)
    const laterMs = this.#settings.again?.(from, to, message)
    const repeat = () => {
      this.#deliver(from, to, message)
    }
    if (laterMs !== undefined) void this.#settings.clock.sleep(laterMs).then(repeat)
  }

  #deliver(from: PeerId, to: PeerId, message: WireMessage): void {
    if (this.#severed.has(from) || this.#severed.has(to) || this.#parted.has(pairOf(from, to))) return
    const copy = copyOf(message)
    this.#settings.tap?.(from, to, copy)
    for (const handler of this.#endpoint(to).handlers)
      handler({ peer: from, standing: standingOf(from) }, copy)
  }
}
