/** All rings of one peer: they run side by side, each in its own time. */
import { BadMessageError } from '../../../shared/errors.ts'
import type { PeerId } from '../../../shared/ids.ts'
import { type AveragingHeader, isOfAveraging, type WireMessage } from '../../../shared/messages/wire.ts'
import { Aftermath } from './aftermath.ts'
import { Ring } from './ring.ts'
import type {
  AveragingHooks,
  AveragingPorts,
  AveragingSettings,
  RingsOfPlan,
  RoundCounts,
  RoundOutcome,
} from './settings.ts'

interface AveragingStats extends RoundCounts {
  /** Of the stage's samples, so many are in the numbers of all others it averages with. */
  readonly averagedSamples: number
  /** For a person; empty while it waits for nobody. */
  readonly waitingFor: string
}

export interface Averaging {
  /** The stage made an update (its `onUpdate`). */
  updated(): void
  /** The stage's `mayUpdate`: undefined, or what an update must wait for before it asks again. */
  gate(): Promise<void> | undefined
  /** A message between members of a ring. @throws BadMessageError, and then nothing has changed */
  deliver(from: PeerId, message: WireMessage): void
  /**
   * The pipeline has drained: one last round in every ring, however few updates since the one before. All members call
   * it; then they end bit-identical. `abandoned`: some ring did not; it will not try again before the next `replan`,
   * after which a drained stage calls this again, also one whose last round succeeded.
   */
  finalRound(): Promise<RoundOutcome>
  /** Give up what runs or is waited for, in every ring: a peer is lost. The other members are told. */
  abandon(reason: string): void
  /**
   * A new plan: go on with its rings from round 1. What runs is given up, or brought to its end where all who go on
   * hold its mean. No rings: end.
   */
  replan(next: RingsOfPlan): void
  stats(): AveragingStats
}

/** A ring of one member, as with one cluster, averages nothing and says nothing. */
export function createAveraging(
  ports: AveragingPorts,
  settings: AveragingSettings,
  hooks: AveragingHooks,
): Averaging {
  return new RingSet(ports, settings, hooks)
}

/** Words of members that have a newer plan than we have; they are few and small, a stranger's flood is not kept. */
const mostEarly = 4096

const membersOf = ({ rings }: RingsOfPlan) => new Set(rings.flatMap(({ plan }) => plan.members))

class RingSet implements Averaging {
  readonly #ports: AveragingPorts
  readonly #hooks: AveragingHooks
  #settings: AveragingSettings
  #rings: readonly Ring[]
  readonly #aftermath: Aftermath
  /** Of all plans. */
  readonly #counts: RoundCounts = { averaged: 0, abandoned: 0, chunkBytes: 0 }
  /** Samples the stage had trained when it last took part in a mean, at the least. */
  #samplesAtRound = 0
  #averagedSamples = 0
  /** Who dropped out, and the samples this stage had trained at the last round that they took part in. */
  readonly #leftAt = new Map<PeerId, number>()
  #early: { readonly from: PeerId; readonly message: WireMessage }[] = []

  constructor(ports: AveragingPorts, settings: AveragingSettings, hooks: AveragingHooks) {
    this.#ports = ports
    this.#hooks = hooks
    this.#settings = settings
    this.#aftermath = new Aftermath(
      (to, word) => {
        this.#tellHeld(to, word)
      },
      () => {
        for (const ring of this.#rings) ring.updated()
      },
    )
    this.#rings = this.#ringsOfPlan()
  }

  /** Whoever cannot be told is gone, and the host learns of that by itself. */
  #tellHeld(to: PeerId, word: { readonly ring: number; readonly round: number; readonly of: number }): void {
    const { job, planNumber } = this.#settings
    const header = { type: 'round-held' as const, job, plan: planNumber, ...word }
    this.#ports.links.send(to, { header, tensors: [] }).catch((error: unknown) => {
      this.#ports.log('debug', `could not tell ${to} about an earlier round`, { error })
    })
  }

  #ringsOfPlan(): Ring[] {
    const shared = {
      ports: this.#ports,
      hooks: this.#hooks,
      settings: this.#settings,
      counts: this.#counts,
      samplesAtRound: this.#samplesAtRound,
      averagedSamples: this.#averagedSamples,
      mayBegin: () => !this.#aftermath.isOpen,
    }
    return this.#settings.rings
      .filter(({ plan }) => plan.members.length > 1)
      .map((ring) => new Ring({ ...shared, ring }))
  }

  updated(): void {
    for (const ring of this.#rings) ring.updated()
  }

  gate(): Promise<void> | undefined {
    const gates = this.#rings.map((ring) => ring.gate()).filter((gate) => gate !== undefined)
    return gates.length === 0 ? undefined : Promise.all(gates).then(() => undefined)
  }

  deliver(from: PeerId, message: WireMessage): void {
    const { header } = message
    if (!isOfAveraging(header)) throw new BadMessageError(`${header.type} is not a message of averaging`)
    if (header.job !== this.#settings.job) throw new BadMessageError(`${header.type} for another job`)
    if (header.plan > this.#settings.planNumber) this.#keep(from, message)
    if (header.plan === this.#settings.planNumber) this.#hear(from, header, message)
  }

  /** A new plan reaches its members one after another; nobody can be further than "ready" before we have it too. */
  #keep(from: PeerId, message: WireMessage): void {
    const { type } = message.header
    if ((type === 'round-ready' || type === 'round-held') && this.#early.length < mostEarly)
      this.#early.push({ from, message })
  }

  #hear(from: PeerId, header: AveragingHeader, { tensors }: WireMessage): void {
    if (header.type === 'round-held') {
      this.#aftermath.hear(from, header)
      return
    }
    const ring = this.#rings.find(({ index }) => index === header.ring)
    if (ring?.hasOther(from) !== true)
      throw new BadMessageError(
        `${header.type} from ${from} about ring ${header.ring}, which we do not share`,
      )
    if (header.type === 'round-ready') ring.hearReady(from, header.round)
    else if (header.type === 'chunk') ring.hearChunk(from, header, tensors)
    else if (header.type === 'round-whole') ring.hearWhole(from, header.round)
    else ring.hearAbandoned(header.round, header.reason)
  }

  async finalRound(): Promise<RoundOutcome> {
    const rings = this.#rings
    const [outcomes] = await Promise.all([
      Promise.all(rings.map((ring) => ring.finalRound())),
      this.#aftermath.over(),
    ])
    return outcomes.every((outcome) => outcome === 'averaged') ? 'averaged' : 'abandoned'
  }

  abandon(reason: string): void {
    for (const ring of this.#rings) ring.abandon(reason)
  }

  replan(next: RingsOfPlan): void {
    const old = this.#rings
    const retired = old.map((ring) => ring.retire('the job has a new plan'))
    this.#averagedSamples = this.#averagedOf(old)
    if (old.length > 0) this.#samplesAtRound = Math.min(...old.map(({ samplesAtRound }) => samplesAtRound))
    this.#weighReturns(this.#settings, next)
    this.#settings = { ...this.#settings, ...next }
    this.#aftermath.carryOver(retired, {
      ...{ planNumber: next.planNumber, present: membersOf(next), active: next.rings.length > 0 },
    })
    this.#rings = this.#ringsOfPlan()
    const early = this.#early
    this.#early = []
    for (const { from, message } of early) this.#hearEarly(from, message)
  }

  #hearEarly(from: PeerId, message: WireMessage): void {
    try {
      this.deliver(from, message)
    } catch (error) {
      this.#ports.log('warn', `${from} spoke of a ring that the new plan does not have`, { error })
    }
  }

  /**
   * Whoever comes back has the numbers of its last round, and what it trained since. Against those the others weigh
   * everything they trained since that same round, or else a long absence would undo it.
   */
  #weighReturns(before: RingsOfPlan, next: RingsOfPlan): void {
    const present = membersOf(next)
    for (const peer of membersOf(before))
      if (!present.has(peer) && !this.#leftAt.has(peer)) this.#leftAt.set(peer, this.#samplesAtRound)
    for (const peer of present) {
      this.#samplesAtRound = Math.min(this.#samplesAtRound, this.#leftAt.get(peer) ?? Infinity)
      this.#leftAt.delete(peer)
    }
  }

  #averagedOf(rings: readonly Ring[]): number {
    return rings.length === 0 ? this.#averagedSamples : Math.min(...rings.map((ring) => ring.averagedSamples))
  }

  stats(): AveragingStats {
    const waits = this.#rings.map(({ waitingFor }) => waitingFor).filter((text) => text !== '')
    const silent = this.#aftermath.waitingFor
    const waitingFor =
      silent.length > 0 ? `waiting for ${silent.join(', ')} to say how the last round went` : (waits[0] ?? '')
    return { ...this.#counts, averagedSamples: this.#averagedOf(this.#rings), waitingFor }
  }
}
