/** A command and how it went, for the part of a page that asked: busy, and one sentence when it failed. */
import { useMemo } from 'preact/hooks'
import { signal } from '@preact/signals'
import type { ReadonlySignal } from '@preact/signals'
import type { Outcome } from '../../shared/messages/ipc.ts'
import { asSentence } from './words/sentence.ts'

export interface Asker {
  readonly busy: ReadonlySignal<boolean>
  /** Empty while all is well. */
  readonly fault: ReadonlySignal<string>
  /** Run one command; undefined when it failed, and the sentence is in `fault`. */
  ask<T>(call: () => Promise<Outcome<T>>): Promise<T | undefined>
  clear(): void
}

export function createAsker(): Asker {
  const busy = signal(false)
  const fault = signal('')
  return {
    busy,
    fault,
    async ask<T>(call: () => Promise<Outcome<T>>): Promise<T | undefined> {
      busy.value = true
      fault.value = ''
      try {
        const outcome = await call()
        if (outcome.ok) return outcome.output
        if (outcome.error.kind !== 'aborted') fault.value = asSentence(outcome.error.message)
        return undefined
      } finally {
        busy.value = false
      }
    },
    clear() {
      fault.value = ''
    },
  }
}

/** One asker for as long as the component lives. */
export const useAsk = (): Asker => useMemo(createAsker, [])
