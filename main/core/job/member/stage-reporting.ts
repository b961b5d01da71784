/** What this PC tells its host of its stage, about once a second, and what it remembers of it for its own faces. */
import type { Tally } from '../../../../shared/model/graph.ts'
import { second } from '../../../../shared/units.ts'
import { Curve } from '../curve.ts'
import { noProgress, type Report } from '../no-progress.ts'
import type { HeaderToHost, MemberPorts } from './member-ports.ts'
import { createProgressReporter, type ProgressReporter } from './progress.ts'
import type { StageLife } from './stage-life.ts'
import type { StageRun } from './stage-run.ts'

/** How often the host hears from us while we train. */
const reportEveryMs = second

interface ReportingPorts {
  /** The stage at work now. */
  readonly run: () => StageRun | undefined
  readonly isFinished: () => boolean
  readonly hostIsGone: () => boolean
  readonly toHost: (header: HeaderToHost) => void
  readonly changed: () => void
}

export class StageReporting {
  readonly #members: MemberPorts
  readonly #ports: ReportingPorts
  #reporter: ProgressReporter
  readonly curve = new Curve<{ updates: number; loss: number }>()
  last: Report = noProgress

  constructor(members: MemberPorts, ports: ReportingPorts) {
    this.#members = members
    this.#ports = ports
    this.#reporter = createProgressReporter(members)
  }

  /** A new stage. Counts from here: what was sent to measure the ways is not the job's. */
  begin(updates: number): void {
    this.last = { ...noProgress, updates }
    this.#reporter = createProgressReporter(this.#members)
  }

  addTraining(tally: Tally): void {
    this.#reporter.addTraining(tally)
  }

  async report(run: StageRun): Promise<void> {
    const report = await this.#reporter.report(run)
    if (run !== this.#ports.run()) return // of a stage that was replaced meanwhile
    this.last = report
    const { training, updates } = report
    if (training !== undefined) this.curve.add({ updates, loss: training.lossSum / training.labels })
    this.tellAgain()
    this.#ports.changed()
  }

  /** To a host that may have missed it. */
  tellAgain(): void {
    if (!this.#ports.hostIsGone()) this.#ports.toHost({ type: 'progress', ...this.last })
  }

  /** @param missed - updates that others made before the stage began */
  async regularly({ run, signal }: StageLife, missed: number): Promise<void> {
    this.last = { ...this.last, updates: this.last.updates + missed }
    while (run !== undefined && !signal.aborted && !this.#ports.isFinished()) {
      await this.report(run)
      await this.#members.clock.sleep(reportEveryMs, signal)
    }
  }
}
