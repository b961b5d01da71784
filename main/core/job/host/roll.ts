/** Everyone who is or was in the job, as the host knows them. */
import type { PeerId } from '../../../../shared/ids.ts'
import type { MemberView } from '../../../../shared/messages/control.ts'
import type { DeviceReport, Progress } from '../../../../shared/messages/wire.ts'
import type { Plan } from '../../../../shared/plan/plan.ts'
import type { LinkReport } from '../link-probes.ts'
import { noProgress } from '../no-progress.ts'
import { peersOf } from '../plan-in-force.ts'

/** A line of the roll. Only the host's own code writes to it. */
export interface Enrolled {
  readonly peer: PeerId
  readonly device: DeviceReport
  readonly addresses: readonly string[]
  state: MemberView['state']
  reason: string
  links: readonly LinkReport[] | undefined
  progress: Progress | undefined
}

export class Roll {
  readonly #entries = new Map<PeerId, Enrolled>()

  enroll(peer: PeerId, device: DeviceReport, addresses: readonly string[]): void {
    const fresh = { state: 'joined' as const, reason: '', links: undefined, progress: undefined }
    this.#entries.set(peer, { peer, device, addresses, ...fresh })
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

  isPresent(peer: PeerId): boolean {
    return this.present.some((entry) => entry.peer === peer)
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
    return this.all.map(({ peer, device, state, reason, progress = noProgress }) => ({
      peer,
      displayName: device.displayName,
      state,
      reason: reason === '' ? progress.waitingFor : reason,
      updates: progress.updates,
      samples: progress.samples,
      busyShare: secondsTrained > 0 ? Math.min(1, progress.busyMs / 1000 / secondsTrained) : 0,
      peakTensorBytes: progress.peakTensorBytes,
      maxStaleness: progress.maxStaleness,
      droppedGradients: progress.dropped,
    }))
  }
}
