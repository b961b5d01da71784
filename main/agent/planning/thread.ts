/** Plans in a thread of their own: a search takes up to seconds, and meanwhile heartbeats and micro-batches must not wait. */
import { Worker } from 'node:worker_threads'
import { AbortedError, InvalidInputError, InvariantError } from '../../../shared/errors.ts'
import type { PlanningTask, PlanningTasks } from './tasks.ts'
import type { PlanningAnswer } from './worker.ts'

/**
 * The task's own answer, the same as without a thread.
 *
 * @throws InvalidInputError as the task does; AbortedError on the signal, and then the search is over
 */
export function inPlanningThread<N extends PlanningTask>(
  name: N,
  input: PlanningTasks[N]['in'],
  signal?: AbortSignal,
): Promise<PlanningTasks[N]['out']> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(new AbortedError('the planning was stopped'))
      return
    }
    const worker = new Worker(new URL('./worker.ts', import.meta.url), {
      workerData: { name, input },
      name: 'planning',
    })
    const onAbort = () => {
      void worker.terminate()
      reject(new AbortedError('the planning was stopped'))
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    worker.on('message', (answer: PlanningAnswer) => {
      if ('output' in answer) resolve(answer.output as PlanningTasks[N]['out'])
      else if (answer.error.kind === 'bad-input') reject(new InvalidInputError(answer.error.message))
      else reject(new InvariantError(answer.error.message))
    })
    worker.on('error', reject)
    worker.on('exit', (code) => {
      signal?.removeEventListener('abort', onAbort)
      // After an answer this changes nothing.
      reject(new InvariantError(`the planning thread ended with code ${code}`))
    })
  })
}
