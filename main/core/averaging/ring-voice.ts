/** What one member says to the others of its ring. */
import { reportOf } from '../../../shared/errors.ts'
import type { PeerId } from '../../../shared/ids.ts'
import { floatTensor } from '../../../shared/tensor.ts'
import { bytesPerFloat } from '../../../shared/units.ts'
import type { Parcel } from './round.ts'
import type { AveragingPorts, AveragingSettings, MemberRing, RoundCounts } from './settings.ts'

interface VoiceParts {
  readonly ports: AveragingPorts
  readonly settings: AveragingSettings
  readonly ring: MemberRing
  readonly counts: RoundCounts
}

const longestReason = 500

export class RingVoice {
  readonly #counts: RoundCounts
  readonly #ports: AveragingPorts
  readonly #address: { readonly job: string; readonly plan: number; readonly ring: number }
  readonly #others: readonly PeerId[]
  readonly #next: PeerId

  constructor({ ports, settings, ring, counts }: VoiceParts) {
    const { self } = ports.links
    const { index, plan } = ring
    this.#counts = counts
    this.#ports = ports
    this.#address = { job: settings.job, plan: settings.planNumber, ring: index }
    this.#others = plan.members.filter((peer) => peer !== self)
    this.#next = plan.members[(plan.members.indexOf(self) + 1) % plan.members.length] ?? self
  }

  ready(round: number): void {
    this.#tell({ type: 'round-ready', round })
  }

  whole(round: number): void {
    this.#tell({ type: 'round-whole', round })
  }

  abandoned(round: number, reason: string): void {
    this.#tell({ type: 'round-abandoned', round, reason: reason.slice(0, longestReason) })
  }

  /** To the next member. Resolves when the transport took it. */
  async chunk(round: number, parcel: Parcel, signal: AbortSignal): Promise<void> {
    const { step, offset, weight, values } = parcel
    const place = { round, phase: step.phase, step: step.step, offset }
    const header = { type: 'chunk', ...this.#address, ...place, weight } as const
    await this.#ports.links.send(this.#next, { header, tensors: [floatTensor(values)] }, signal)
    this.#counts.chunkBytes += values.length * bytesPerFloat
  }

  /** Whoever cannot be told is gone, and the host learns of that by itself. */
  #tell(body: Body): void {
    const message = { header: { ...body, ...this.#address }, tensors: [] }
    for (const peer of this.#others) {
      this.#ports.links.send(peer, message).catch((error: unknown) => {
        this.#ports.log('debug', `could not tell ${peer} about a round`, { ...reportOf(error) })
      })
    }
  }
}

type Body =
  | { readonly type: 'round-ready' | 'round-whole'; readonly round: number }
  | { readonly type: 'round-abandoned'; readonly round: number; readonly reason: string }
