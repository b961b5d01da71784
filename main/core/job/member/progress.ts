/** The report a member sends its host about once a second, and when its stage has finished. */
import type { Progress } from '../../../../shared/messages/wire.ts'
import { addTallies, emptyTally } from '../../../../shared/model/tally.ts'
import type { Tally } from '../../../../shared/model/graph.ts'
import type { Traffic } from '../../../../shared/messages/wire.ts'
import type { Bytes } from '../../../../shared/units.ts'
import type { MemberPorts } from './member-ports.ts'
import type { StageRun } from './stage-run.ts'

/** Gathers what a report says. */
export interface ProgressReporter {
  addTraining(tally: Tally): void
  report(run: StageRun): Promise<Omit<Progress, 'type' | 'job' | 'plan'>>
}

export function createProgressReporter(ports: MemberPorts): ProgressReporter {
  const before: Readonly<Record<Traffic, Bytes>> = { ...ports.links.sentBytes() }
  let training = emptyTally

  return {
    addTraining(tally) {
      training = addTallies(training, tally)
    },
    async report(run) {
      const { peakBytes } = await ports.engine.memory()
      const now = ports.links.sentBytes()
      const since = (traffic: Traffic) => now[traffic] - before[traffic]
      const seen = training
      training = emptyTally
      const { stats } = run
      return {
        ...stats,
        busyMs: Math.max(0, stats.busyMs - (ports.restedMs?.() ?? 0)),
        // A diverged loss is not finite; JSON would make null of it.
        ...(seen.labels > 0 && Number.isFinite(seen.lossSum) ? { training: seen } : {}),
        peakTensorBytes: peakBytes,
        sent: {
          activations: since('activations'),
          gradients: since('gradients'),
          parameters: since('parameters'),
          data: since('data'),
        },
        waitingFor: stats.waitingFor.slice(0, 200),
      }
    },
  }
}
