/** Waiting for a condition over changing state: no polling, with a deadline and a signal. */
import { AbortedError } from '../../../shared/errors.ts'
import type { Millis } from '../../../shared/units.ts'
import type { Clock } from '../ports.ts'

export interface UntilOptions {
  readonly signal?: AbortSignal
  readonly withinMs?: Millis
}

/** Whoever changes the state calls `notify`; whoever waits says for what. */
export interface Watch {
  notify(): void
  /**
   * True once the condition holds, false after `withinMs`.
   * @throws AbortedError when the signal fires first
   */
  until(condition: () => boolean, options?: UntilOptions): Promise<boolean>
}

interface Waiter {
  readonly condition: () => boolean
  readonly settle: () => void
}

/** Given to `abort`, which otherwise makes an exception with a stack that nobody reads, for every wait. */
const conditionCame = 'the condition came first'

export function createWatch(clock: Clock): Watch {
  const waiters = new Set<Waiter>()

  function notify() {
    for (const waiter of [...waiters]) if (waiter.condition()) waiter.settle()
  }

  async function until(condition: () => boolean, { signal, withinMs }: UntilOptions = {}): Promise<boolean> {
    if (signal?.aborted === true) throw new AbortedError('stopped')
    if (condition()) return true
    const timer = new AbortController()
    return new Promise<boolean>((resolve, reject) => {
      const end = (action: () => void) => {
        waiters.delete(waiter)
        signal?.removeEventListener('abort', onAbort)
        timer.abort(conditionCame)
        action()
      }
      const onAbort = () => {
        end(() => {
          reject(new AbortedError('stopped'))
        })
      }
      const waiter = {
        condition,
        settle: () => {
          end(() => {
            resolve(true)
          })
        },
      }
      waiters.add(waiter)
      signal?.addEventListener('abort', onAbort, { once: true })
      if (withinMs === undefined) return
      clock.sleep(withinMs, timer.signal).then(
        () => {
          end(() => {
            resolve(false)
          })
        },
        () => undefined, // the condition came first
      )
    })
  }

  return { notify, until }
}
