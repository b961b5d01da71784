/** Everyone who is or was in the job, as the host knows them. */
import type { PeerId } from '../../../../shared/ids.ts'
import type { MemberView } from '../../../../shared/messages/control.ts'
import type { DeviceReport, Progress } from '../../../../shared/messages/wire.ts'
import type { Plan } from '../../../../shared/plan/plan.ts'
import type { LinkReport } from '../link-probes.ts'
import { withNames } from '../named.ts'
import { noProgress, type Report } from '../no-progress.ts'
import { peersOf } from '../plan-in-force.ts'

/** What a member wants: a plan is made of those who want to train. */
export type Wish = 'train' | 'pause' | 'leave'

/** A line of the roll. Only the host's own code writes to it. */
export interface Enrolled {
  readonly peer: PeerId
  readonly device: DeviceReport
  readonly addresses: readonly string[]
  state: MemberView['state']
  reason: string
  wish: Wish
  links: readonly LinkReport[]
  /** The plan that cut the stage which it certainly holds, whole; undefined: none, or it was not heard of since it was lost. */
  layout: number | undefined
  /** It answered the newest question about its ways. */
  measured: boolean
  /** Under the present plan's stages. */
  progress: Progress | undefined
  /** Under the stages of earlier plans. */
  earlier: Report
}

/** What a member did in all; what it is doing now is of the newest report. */
export function allOf({ progress: now, earlier }: Pick<Enrolled, 'progress' | 'earlier'>): Report {
  const progress: Report = now ?? noProgress
  const sum = <K extends string>(one: Record<K, number>, other: Record<K, number>, keys: readonly K[]) =>
    Object.fromEntries(keys.map((key) => [key, one[key] + other[key]])) as Record<K, number>
  return {
    ...sum(progress, earlier, ['samples', 'busyMs', 'dropped']),
    updates: Math.max(progress.updates, earlier.updates),
    maxStaleness: Math.max(progress.maxStaleness, earlier.maxStaleness),
    peakTensorBytes: Math.max(progress.peakTensorBytes, earlier.peakTensorBytes),
    sent: sum(progress.sent, earlier.sent, ['activations', 'gradients', 'parameters', 'data']),
    rounds: sum(progress.rounds, earlier.rounds, ['averaged', 'abandoned']),
    averagedSamples: progress.averagedSamples,
    waitingFor: progress.waitingFor,
  }
}

/** Without the port, which may be another one after each start. */
const hostOf = (address: string) => address.split('/', 3).join('/')

/** One that is reached over connections that it makes tells nothing of its line. */
function isSameLine(one: readonly string[], other: readonly string[]): boolean {
  const hosts = new Set(one.map(hostOf))
  return hosts.size === 0 || other.length === 0 || other.some((address) => hosts.has(hostOf(address)))
}

export class Roll {
  readonly #entries = new Map<PeerId, Enrolled>()

  /**
   * A newcomer, or one who comes again: what it did before stays its own, and in the model. On the line that it had
   * before, its ways are as they were.
   */
  enroll(peer: PeerId, device: DeviceReport, addresses: readonly string[]): void {
    const before = this.#entries.get(peer)
    const { progress, earlier = noProgress } = before ?? {}
    const links = before !== undefined && isSameLine(before.addresses, addresses) ? before.links : []
    const fresh = { state: 'joined' as const, reason: '', wish: 'train' as const, measured: false }
    this.#entries.set(peer, {
      peer,
      device,
      addresses,
      ...fresh,
      links,
      layout: undefined,
      progress,
      earlier,
    })
  }

  /** The stages of the present plan end: what was done in them is added up. */
  closeBooks(): void {
    for (const entry of this.#entries.values()) {
      entry.earlier = { ...allOf(entry), waitingFor: '' }
      entry.progress = undefined
    }
  }

  get(peer: PeerId): Enrolled | undefined {
    return this.#entries.get(peer)
  }

  get all(): readonly Enrolled[] {
    return [...this.#entries.values()]
  }

  get present(): readonly Enrolled[] {
    return this.all.filter((entry) => entry.state !== 'lost')
  }

  /** Those a plan may be made of. */
  get willing(): readonly Enrolled[] {
    return this.present.filter(({ wish }) => wish === 'train')
  }

  /** Who is present and wants this. */
  thatWant(wish: Wish): PeerId[] {
    return this.present.filter((entry) => entry.wish === wish).map(({ peer }) => peer)
  }

  /** It is here with the stage that this plan cut for it. */
  holds(peer: PeerId, layout: number): boolean {
    return this.isPresent(peer) && this.#entries.get(peer)?.layout === layout
  }

  /** Until it says so itself, nobody knows what it holds. */
  forgetStage(peer: PeerId): void {
    const entry = this.#entries.get(peer)
    if (entry !== undefined) entry.layout = undefined
  }

  isPresent(peer: PeerId): boolean {
    return this.present.some((entry) => entry.peer === peer)
  }

  /** `kitchen-pc and attic-pc`. */
  namesOf(peers: readonly PeerId[]): string {
    return peers.map((peer) => this.nameOf(peer)).join(' and ')
  }

  nameOf(peer: PeerId): string {
    return this.#entries.get(peer)?.device.displayName ?? peer
  }

  /** Set the state of several members at once. */
  mark(peers: readonly PeerId[], state: MemberView['state'], reason = ''): void {
    for (const peer of peers) {
      const entry = this.#entries.get(peer)
      if (entry !== undefined && entry.state !== 'lost') Object.assign(entry, { state, reason })
    }
  }

  /** Every stage of the cluster is in one of these states. */
  clusterIs(plan: Plan, cluster: number, ...states: readonly MemberView['state'][]): boolean {
    return peersOf(plan, cluster).every((peer) => states.includes(this.get(peer)?.state ?? 'lost'))
  }

  views(secondsTrained: number): MemberView[] {
    const names = this.all.map(({ peer, device }) => ({ peer, displayName: device.displayName }))
    return this.all.map((entry) => {
      const { peer, device, state, reason } = entry
      const did = allOf(entry)
      return {
        peer,
        displayName: device.displayName,
        state,
        reason: reason === '' ? withNames(did.waitingFor, names) : reason,
        updates: did.updates,
        samples: did.samples,
        busyShare: secondsTrained > 0 ? Math.min(1, did.busyMs / 1000 / secondsTrained) : 0,
        peakTensorBytes: did.peakTensorBytes,
        maxStaleness: did.maxStaleness,
        droppedGradients: did.dropped,
      }
    })
  }
}
