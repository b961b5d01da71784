/** `Links` for one job over libp2p streams: who is there, who may speak, and what was sent. */
import type { Stream } from '@libp2p/interface'
import { AbortedError, BadMessageError, PoolError, RefusedError } from '../../../../shared/errors.ts'
import type { JobId, PeerId } from '../../../../shared/ids.ts'
import { encodeFrame, tensorBytesOf } from '../../../../shared/messages/frame.ts'
import {
  trafficOf,
  type Certificate,
  type Traffic,
  type WireHeader,
  type WireMessage,
} from '../../../../shared/messages/wire.ts'
import { second, type Bytes, type Millis } from '../../../../shared/units.ts'
import type { Links, Log, Sender } from '../../../core/ports.ts'
import { acceptStream, type Guest, type Verdict } from './arrival.ts'
import { checkHeader, strangerLimits } from './gate.ts'
import { clonedIdentity, laneOf, type Hello } from './hello.ts'
import { createMailbox } from './mailbox.ts'
import { openOutgoing } from './outgoing.ts'
import { type Arriving, PeerLink } from './peer-link.ts'
import { livesElsewhere } from './rival.ts'
import type { Line } from './line.ts'
import type { Shaper } from './shaper.ts'

/** The job that this agent takes part in, and how it knows the others. */
export interface JobContext {
  readonly job: JobId
  /** Ours; null before the host admitted us. */
  readonly certificate: Certificate | null
  /** Whether this agent is the job's host. */
  readonly hosting: boolean
  /** What a certificate makes of the peer that showed it. */
  readonly standingOf: (shown: Certificate | null, peer: PeerId) => Sender['standing']
}

/** The network under the links. */
export interface Network {
  readonly self: PeerId
  readonly log: Log
  /** Milliseconds since 1970. */
  readonly now: () => Millis
  /** A new stream, over a new connection if there is none, and the line that it takes. */
  readonly dial: (
    peer: PeerId,
    signal: AbortSignal,
  ) => Promise<{ readonly stream: Stream; readonly line: Line }>
  /** Cut every connection to the peer. */
  readonly drop: (peer: PeerId, reason: string) => void
  readonly learnAddresses: (peer: PeerId, addresses: readonly string[]) => Promise<void>
  readonly addresses: () => readonly string[]
  /** A peer of this standing took our certificate. */
  readonly onAccepted: (peer: PeerId, standing: Sender['standing']) => void
  readonly patience: Patience
  readonly shaper: Shaper
}

/** When a peer counts as lost. */
export interface Patience {
  /** How long a peer whose connection broke may take to come back. */
  readonly graceMs: Millis
  /** A control lane that says nothing else says so often that it lives. */
  readonly heartbeatMs: Millis
  readonly silenceMs: Millis
}
/** Looked at with every heartbeat: silence is noticed within 5 s. Bulk that comes in is no silence. */
export const usualPatience: Patience = {
  graceMs: 2 * second,
  heartbeatMs: second,
  silenceMs: 4 * second,
}

/** The links of one job, until `close`. */
export interface JobLinks extends Links {
  readonly job: JobId
  /** The host admitted us: show this from now on, to peers that we are linked to as well. */
  useCertificate(certificate: Certificate): void
  /** Whether the peer proved that it belongs to the job. */
  isMember(peer: PeerId): boolean
  /** End every link of the job; what was not yet taken fails with AbortedError. */
  close(): void
}

type LostHandler = (peer: PeerId, reason: string) => void

/** Links, and the way in for streams that other peers open. */
export class LinksOfJob implements JobLinks {
  readonly self: PeerId
  readonly job: JobId
  readonly #network: Network
  readonly #context: JobContext
  readonly #mailbox
  readonly #links = new Map<PeerId, PeerLink>()
  readonly #members = new Set<PeerId>()
  readonly #lostHandlers = new Set<LostHandler>()
  readonly #sent: Record<Traffic, Bytes> = {
    control: 0,
    activations: 0,
    gradients: 0,
    parameters: 0,
    data: 0,
  }
  readonly #heartbeat: NodeJS.Timeout
  #certificate: Certificate | null
  #beatAt: Millis
  #closed = false

  constructor(network: Network, context: JobContext) {
    this.self = network.self
    this.job = context.job
    this.#network = network
    this.#context = context
    this.#certificate = context.certificate
    this.#mailbox = createMailbox(network.log)
    this.#beatAt = network.now()
    this.#heartbeat = setInterval(() => {
      this.#beat()
    }, network.patience.heartbeatMs)
    this.#heartbeat.unref()
  }

  get isClosed(): boolean {
    return this.#closed
  }
  /** Whether we are the host, and so the relay of our members. */
  get isHosting(): boolean {
    return this.#context.hosting && !this.#closed
  }

  async send(to: PeerId, message: WireMessage, signal?: AbortSignal): Promise<void> {
    if (this.#closed) throw new AbortedError('this job is over for this agent')
    if (signal?.aborted === true) throw new AbortedError('the sending was stopped')
    if (to === this.self) {
      await this.#mailbox.post(this.#sender(this.self, this.#certificate), message)
      return
    }
    const { type } = message.header
    const pieces = encodeFrame(message)
    const bytes = tensorBytesOf(message)
    const traffic = trafficOf(type)
    const onSent = (): void => {
      this.#sent[traffic] += bytes
    }
    await this.#linkTo(to).send(laneOf(traffic), { type, pieces, bytes, signal, onSent })
  }

  onMessage(handler: (from: Sender, message: WireMessage) => void): () => void {
    return this.#mailbox.onMessage(handler)
  }
  onLost(handler: LostHandler): () => void {
    this.#lostHandlers.add(handler)
    return () => {
      this.#lostHandlers.delete(handler)
    }
  }
  learnAddresses(peer: PeerId, addresses: readonly string[]): Promise<void> {
    return this.#network.learnAddresses(peer, addresses)
  }
  addresses(): readonly string[] {
    return this.#network.addresses()
  }
  sentBytes(): Readonly<Record<Traffic, Bytes>> {
    return { ...this.#sent }
  }
  isMember(peer: PeerId): boolean {
    return this.#members.has(peer)
  }

  useCertificate(certificate: Certificate): void {
    this.#certificate = certificate
    for (const link of this.#links.values()) link.renew()
  }

  /** Take a stream that another peer opened, over the connection of this name. */
  accept(stream: Stream, peer: PeerId, connection: string): void {
    acceptStream(stream, {
      admit: (hello, abort) => this.#admit(peer, hello, { abort, connection }),
      malformed: (error) => {
        this.#dismiss(peer, error)
      },
    })
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    clearInterval(this.#heartbeat)
    this.#lostHandlers.clear()
    for (const link of this.#links.values())
      link.lose('we left the job', () => new AbortedError('this job is over for this agent'))
  }

  #sender(peer: PeerId, shown: Certificate | null): Sender {
    return { peer, standing: this.#context.standingOf(shown, peer) }
  }

  #linkTo(peer: PeerId): PeerLink {
    const known = this.#links.get(peer)
    if (known !== undefined) return known
    const { patience, now, onAccepted, dial, drop, log, shaper } = this.#network
    const link = new PeerLink(peer, {
      job: this.job,
      graceMs: patience.graceMs,
      now,
      certificate: () => this.#certificate,
      open: async (hello, events, signal) => {
        const { stream, line } = await dial(peer, signal)
        return openOutgoing(stream, { hello, events, shaper, line }, signal)
      },
      hangUp: (reason) => {
        drop(peer, reason)
      },
      onRepaired: () => {
        log('info', `the connection to ${peer} broke and was made again`)
      },
      onAccepted: (standing) => {
        onAccepted(peer, standing)
      },
      onLost: (reason, exchanged) => {
        if (this.#links.get(peer) === link) this.#links.delete(peer)
        if (!exchanged || this.#closed) return
        log('info', `peer ${peer} is lost: ${reason}`)
        for (const handler of [...this.#lostHandlers]) handler(peer, reason)
      },
    })
    this.#links.set(peer, link)
    return link
  }

  #admit(peer: PeerId, hello: Hello, arriving: Arriving): Verdict | Promise<Verdict> {
    if (this.#closed || hello.job !== this.job) return 'unknown-job'
    const known = this.#links.get(peer)
    if (known?.isReplacedBy(hello) !== true) return this.#welcome(peer, hello, arriving)
    if (known.standsElsewhere(arriving.connection)) return this.#judge(known, hello, arriving)
    known.lose('it began anew')
    return this.#welcome(peer, hello, arriving)
  }

  /** Somebody began anew while the streams of before stand: the same, after a crash, or another with a copy of its key. */
  async #judge(known: PeerLink, hello: Hello, arriving: Arriving): Promise<Verdict> {
    const { peer } = known
    const { now, patience, log } = this.#network
    const { heartbeatMs } = patience
    if (await livesElsewhere(known, arriving.connection, { now, heartbeatMs })) {
      log('warn', `two PCs take part as peer ${peer}: the second was turned away`)
      return clonedIdentity
    }
    if (this.#closed) return 'unknown-job'
    if (this.#links.get(peer) === known) known.lose('it began anew')
    return this.#welcome(peer, hello, arriving)
  }

  #welcome(peer: PeerId, hello: Hello, arriving: Arriving): Verdict {
    const sender = this.#sender(peer, hello.certificate)
    const link = this.#linkTo(peer)
    const answer = link.admit(hello, sender.standing, arriving)
    if (answer !== 'welcome') {
      // Nothing came over a fresh link yet: it is the other side that goes on with one that we ended.
      if (link.hasArrivals) link.lose('messages of it were lost on the way')
      return answer
    }
    if (sender.standing !== 'stranger') this.#members.add(peer)
    return this.#guest(link, hello, arriving.abort)
  }

  #guest(link: PeerLink, hello: Hello, abort: (reason: string) => void): Guest {
    const { lane, certificate } = hello
    const standing = this.#context.standingOf(certificate, link.peer)
    // A certificate may run out while its stream lives on.
    const sender = (): Sender => {
      const expired = certificate === null || certificate.expiresAt <= this.#network.now()
      return { peer: link.peer, standing: expired ? 'stranger' : standing }
    }
    let last: WireHeader | undefined
    return {
      ...(standing === 'stranger' ? { limits: strangerLimits } : {}),
      heard: (bytes) => {
        link.heard()
        return this.#network.shaper.arrive(bytes, lane === 'control')
      },
      onHeader: (header) => {
        last = header
        checkHeader(header, { job: this.job, lane, standing: sender().standing })
      },
      onMessage: (message) => {
        link.count(lane)
        link.markExchanged()
        this.#mailbox.deliver(sender(), message)
      },
      failed: (error) => {
        if (error instanceof RefusedError) this.#refuse(link, last)
        else this.#dismiss(link.peer, error)
      },
      ended: () => {
        link.arrivalEnded(lane, abort)
      },
    }
  }

  /** Tell a stranger that it is one. Never in answer to a refusal: two strangers would go on for ever. */
  #refuse(link: PeerLink, header: WireHeader | undefined): void {
    if (header === undefined || header.type === 'refused') return
    this.#network.log('info', `peer ${link.peer} is no member and sent '${header.type}'`)
    const text = 'you are not a member of this job: ask its host for an invite'
    const refused = {
      type: 'refused',
      job: this.job,
      plan: header.plan,
      refusal: 'not-a-member',
      text,
    } as const
    this.send(link.peer, { header: refused, tensors: [] }).catch(() => undefined)
  }

  /** A peer broke the protocol: cut it off. */
  #dismiss(peer: PeerId, error: PoolError): void {
    const said = error instanceof BadMessageError ? error : new BadMessageError(error.message)
    this.#network.log('warn', `peer ${peer} sent what it must not: ${said.message}`, { code: said.code })
    this.#links.get(peer)?.lose(`it sent what it must not: ${said.message}`)
    this.#network.drop(peer, said.message)
  }

  /** Keep quiet links alive, and notice the dead ones, unless it was this machine that slept. */
  #beat(): void {
    const { now, patience, drop } = this.#network
    const slept = now() - this.#beatAt > 2 * patience.heartbeatMs
    this.#beatAt = now()
    for (const link of [...this.#links.values()]) {
      if (slept) link.heard()
      if (link.silentMs > patience.silenceMs) {
        if (link.exchanged) drop(link.peer, 'silent')
        if (link.exchanged || link.isIdle)
          link.lose(`nothing was heard of it for ${patience.silenceMs / second} s`)
      } else link.keepAlive()
    }
  }
}
