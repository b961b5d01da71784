/** The planning thread: does the one task that it was started with, says how it ended, and is over. */
import { parentPort, workerData } from 'node:worker_threads'
import { type ErrorReport, InvariantError, reportOf } from '../../../shared/errors.ts'
import { planningDeeds, type PlanningTask } from './tasks.ts'

export type PlanningAnswer = { readonly output: unknown } | { readonly error: ErrorReport }

if (parentPort === null) throw new InvariantError('this file runs as a worker thread')
const { name, input } = workerData as { readonly name: PlanningTask; readonly input: unknown }

function answer(): PlanningAnswer {
  try {
    return { output: (planningDeeds[name] as (input: unknown) => unknown)(input) }
  } catch (error) {
    return { error: reportOf(error) }
  }
}
parentPort.postMessage(answer())
