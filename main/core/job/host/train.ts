/** The run itself, as the host sees it: start, progress, the end, and when it stops for a new plan. */
import type { PeerId } from '../../../../shared/ids.ts'
import type { WireMessage } from '../../../../shared/messages/wire.ts'
import { scoresOf } from '../../../../shared/model/tally.ts'
import { beginPlan } from './begin.ts'
import { noteCursor } from './books.ts'
import { keepCheckpoints } from './checkpoints.ts'
import { beginComparison } from './comparison.ts'
import type { HostState } from './host-state.ts'
import { isOver } from './over.ts'
import { drainAll, holdThosePausing } from './pauses.ts'
import { replanIsDue, untilAChange } from './replan.ts'
import { keepRun } from './run-keeping.ts'
import { validateIfDue } from './validations.ts'

/**
 * Start. `over`: every active cluster has drained and made its last round, or the host ends a run in which nobody
 * trains. `replan`: the clusters have drained, and another plan is to be made.
 */
export async function train(host: HostState, signal: AbortSignal): Promise<'over' | 'replan'> {
  host.trainingSinceMs ??= host.ports.clock.now()
  beginComparison(host)
  host.enter('training', 'training')
  beginPlan(host)
  if (host.finishing) finishEarly(host)
  holdThosePausing(host)
  await keepRun(host)
  const trained = new AbortController()
  const enough = AbortSignal.any([signal, trained.signal])
  const checkpoints = keepCheckpoints(host, { signal, enough })
  try {
    for (;;) {
      await untilAChange(host, signal)
      if (isOver(host) && host.held.size === 0) return 'over'
      // The others have reached the target; what a pausing cluster has learned comes in with one more last round.
      if (isOver(host)) drainAll(host, 'the target is reached')
      else if (await replanIsDue(host, signal)) return 'replan'
    }
  } finally {
    trained.abort()
    host.secondsAtEnd = host.secondsTrained
    await checkpoints
  }
}

/** End early and keep what was learned: roots admit no more, everything in flight is trained. */
export function finishEarly(host: HostState): void {
  host.finishing = true
  if (host.phase === 'gathering') host.startNow = true
  if (host.phase !== 'training' && host.phase !== 'paused') return
  host.enter('draining', 'finishing what is in flight')
  drainAll(host, 'the host ends the training')
}

/** Take the report of a member; the leaf's training loss goes into the curve. */
export function noteProgress(host: HostState, from: PeerId, { header }: WireMessage<'progress'>): void {
  const entry = host.roll.get(from)
  // A stage never has done less than it said before.
  if (entry === undefined || header.samples < (entry.progress?.samples ?? 0)) return
  const { cursor } = entry.progress ?? {}
  entry.progress = header
  // A message of another lane may have overtaken this report.
  noteCursor(host, from, cursor)
  const scores = header.training === undefined ? undefined : scoresOf(header.training)
  if (scores !== undefined) host.trainingCurve.add({ updates: header.updates, loss: scores.loss })
  validateIfDue(host)
  host.watch.notify()
}
