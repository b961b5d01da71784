/** What the host knows while its job lives, and the few ways to speak to members. */
import type { PeerId } from '../../../../shared/ids.ts'
import type { Learned } from '../../../../shared/job/learned.ts'
import type { JobSpec } from '../../../../shared/job/spec.ts'
import type { JobPhase } from '../../../../shared/messages/control.ts'
import type {
  Certificate,
  DeviceReport,
  Header,
  Refusal,
  WireHeader,
} from '../../../../shared/messages/wire.ts'
import type { Scores, Tally } from '../../../../shared/model/graph.ts'
import type { DoesNotFit, Layout, Plan } from '../../../../shared/plan/plan.ts'
import type { LayoutRequest } from '../job-layout.ts'
import type { Clock, FinishedModel, Links, Log, SavedRun, Vault } from '../../ports.ts'
import { type Checkpoint, type Trained, untrained } from '../checkpoint.ts'
import { Curve } from '../curve.ts'
import { Pace } from '../forecast.ts'
import type { PlanForecast } from '../learned.ts'
import type { StepAlone } from '../rehearsal.ts'
import { createJobLog, type JobLog } from '../job-log.ts'
import type { StateReceiver } from '../transfer.ts'
import type { Donor } from '../moving/donor.ts'
import { createWatch, type Watch } from '../watch.ts'
import type { Flops, Millis } from '../../../../shared/units.ts'
import { Attendance } from './attendance.ts'
import { Roll } from './roll.ts'
import { Stock } from './stock.ts'

export interface HostPorts {
  readonly links: Links
  readonly clock: Clock
  readonly log: Log
  readonly vault: Vault
  /** `layoutOfJob`, in whatever thread; the same request gives the same plan. @throws AbortedError */
  readonly plan: (request: LayoutRequest, signal: AbortSignal) => Promise<Layout | DoesNotFit>
}

/** When the host stops waiting and plans. */
export interface Gathering {
  readonly peers: number | undefined
  readonly deadlineSeconds: number
  readonly clusters: number | undefined
}

export interface HostedJob {
  readonly job: string
  readonly spec: JobSpec
  readonly gathering: Gathering
  /** What the host's own PC lends. */
  readonly device: DeviceReport
  /** What each layer of the model takes on its engine, in the FLOPs of `device`; absent: nobody has measured. */
  readonly layerFlops?: readonly Flops[] | undefined
  /** Engines that compute at full speed at once on its machine; absent: nobody knows. */
  readonly processors?: number
  /** Weights to start from; absent: the seed's. */
  readonly continueFrom: FinishedModel | undefined
  /** A run that this host's last program had begun. */
  readonly resume?: SavedRun
  /** From jobs that this host had before. */
  readonly learned?: Learned
  /** The run has ended with a model: this is known now. */
  readonly onLearned?: (learned: Learned) => void
  readonly issueCertificate: (peer: PeerId) => Promise<Certificate>
  /** Undefined when the secret opens the job. */
  readonly checkSecret: (secret: string) => Refusal | undefined
}

export interface HeldCluster {
  readonly sinceMs: Millis
  /** It was looked at whether the others would do better with a plan of their own. */
  considered: boolean
}

type WithoutEnvelope<H> = H extends WireHeader ? Omit<H, 'job' | 'plan'> : never

export class HostState {
  readonly ports: HostPorts
  readonly hosted: HostedJob
  readonly roll = new Roll()
  readonly attendance = new Attendance()
  /** Who holds what of the model, from a stop until the next plan begins. */
  readonly stock: Stock
  readonly watch: Watch
  readonly log: JobLog
  readonly trainingCurve = new Curve<{ updates: number; loss: number }>()
  readonly validationCurve = new Curve<{ updates: number; scores: Scores }>()
  /** Stages whose parameters travel to us. */
  readonly incoming = new Map<PeerId, StateReceiver>()
  phase: JobPhase = 'gathering'
  text = 'waiting for members'
  plan: Plan | undefined
  /** What was expected of it. */
  forecast: PlanForecast | undefined
  /** Of the newest plan sent, in force or not. */
  planNumber = 0
  /** Of the plan that cut the present stages; what members say of an earlier one is of the past. */
  layoutNumber = 0
  /** Where the training went on under the present stages. */
  from: Trained = untrained
  /** The newest whole model in the middle of the training. */
  checkpoint: Checkpoint | undefined
  /** What the planner said, by what it was asked; the newest last. */
  readonly searched = new Map<string, Layout | DoesNotFit>()
  /** For the next stop, made while the training went on; `of`: the PCs that it was made for. */
  prepared: { readonly layout: Layout; readonly of: string } | undefined
  /** What changed in the pool since it was planned, as a sentence. */
  unplanned: string | undefined
  pace = new Pace()
  startNow = false
  finishing = false
  trainingSinceMs: number | undefined
  /** Seconds trained when the clusters had drained last: what comes then is no training. */
  secondsAtEnd: number | undefined
  /** Trained before this program was started. */
  secondsBefore = 0
  /** When the next checkpoint may be taken: where one cluster trains alone, and else. */
  checkpointDue: { readonly aloneMs: Millis; readonly usualMs: Millis } | undefined
  /** The newest checkpoint that is or was under way. */
  taking: Promise<unknown> = Promise.resolve()
  /** What the checkpoints on disk hold. */
  kept: readonly Trained[] = []
  /** The program ends, the run does not. */
  suspending = false
  /** Clusters that were told to hold, because a member of theirs wants to pause. */
  readonly held = new Map<number, HeldCluster>()
  /** Clusters that were held when they were woken to hand over: they are behind the others. */
  readonly woken = new Set<number>()
  /** Clusters of the plan that have not begun yet, while others train. */
  readonly late = new Set<number>()
  /** How long it took last time until every stage of a plan was ready. */
  handOutMs: Millis = 0
  /** When a stage last could not go on though nobody was gone. */
  readonly brokeAtMs = new Map<PeerId, Millis>()
  /** What those on the host's machine told of their rehearsal. */
  readonly rehearsals = new Map<PeerId, Header<'rehearsed'>>()
  /** And what they were to train in it. */
  readonly rehearsedParts = new Map<PeerId, StepAlone>()
  /** Peers that the host sent away; they may not come back. */
  readonly removed = new Set<PeerId>()
  /** Samples judged while the training went on. */
  judged = 0
  validation: { readonly id: number; readonly cluster: number; tally?: Tally } | undefined
  finalScores: Scores | undefined
  /** How far the model is that was written. */
  concluded: Trained | undefined

  /** @param donor - gives out what the host holds, beside what its own PC's stage does */
  constructor(ports: HostPorts, hosted: HostedJob, donor: Donor) {
    this.stock = new Stock(donor)
    this.ports = ports
    this.hosted = hosted
    this.watch = createWatch(ports.clock)
    this.log = createJobLog(ports)
  }

  /** Set what faces show. */
  enter(phase: JobPhase, text: string): void {
    this.phase = phase
    this.text = text
    this.watch.notify()
  }

  /** Never rejects: a peer that cannot be reached is reported lost by the links. */
  async send(peer: PeerId, header: WithoutEnvelope<WireHeader>): Promise<void> {
    const whole = { ...header, job: this.hosted.job, plan: this.planNumber }
    try {
      await this.ports.links.send(peer, { header: whole, tensors: [] })
    } catch (error) {
      const text = `could not send ${header.type} to ${this.roll.nameOf(peer)}`
      this.ports.log('debug', text, { error: String(error) })
    }
  }

  broadcast(
    header: WithoutEnvelope<WireHeader>,
    peers: readonly PeerId[] = this.roll.present.map((entry) => entry.peer),
  ): void {
    for (const peer of peers) void this.send(peer, header)
  }

  /** Between two plans: everyone waits for the next one. */
  get standsStill(): boolean {
    return this.stock.isOpen && this.late.size === 0
  }

  /** What was seen after so many updates does not hold any more. */
  cutCurves(updates: number): void {
    this.trainingCurve.keep((point) => point.updates <= updates)
    this.validationCurve.keep((point) => point.updates <= updates)
  }

  get secondsTrained(): number {
    const { trainingSinceMs: since, secondsBefore } = this
    return since === undefined ? secondsBefore : secondsBefore + (this.ports.clock.now() - since) / 1000
  }
}
