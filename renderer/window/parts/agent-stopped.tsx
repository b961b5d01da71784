/** The agent is down: why, what it costs, when it comes back, and two ways to help it. */
import type { JSX } from 'preact'
import { useAsk } from '../ask.ts'
import { asSentence } from '../words/sentence.ts'
import { desktop, now } from '../state.ts'
import { duration } from '../words/numbers.ts'
import { Banner, Fault } from './blocks.tsx'
import { Button } from './button.tsx'

/** The title is an alert, which is read out whenever it changes: the seconds stand outside it. */
const titleOf = (nextTryAtMs: number | null): string =>
  nextTryAtMs === null
    ? 'The agent stopped and does not start again by itself'
    : 'The agent stopped and starts again by itself'

function againWords(nextTryAtMs: number | null, nowMs: number): string {
  if (nextTryAtMs === null) return ''
  const wait = Math.max(0, (nextTryAtMs - nowMs) / 1000)
  return `The next try is in ${duration(wait)}.`
}

export function AgentStopped(): JSX.Element | null {
  const asker = useAsk()
  const state = desktop.value
  if (state?.agent !== 'stopped') return null
  return (
    <Banner tone="trouble" icon="bad" title={titleOf(state.nextTryAtMs)}>
      <p>
        {asSentence(state.cause)}{' '}
        {state.tries > 0 ? `This is try ${state.tries} of ${state.mostTries}. ` : ''}
        Nothing trains on this PC meanwhile; the pool goes on where it can.{' '}
        {againWords(state.nextTryAtMs, now.value)}
      </p>
      <p class="soft">
        If it stops again, lower the memory limit, close large programs, or save a diagnostics file.
      </p>
      <div class="actions">
        <Button
          kind="primary"
          busy={asker.busy.value}
          onPress={() => asker.ask(() => window.rookery.startAgent({}))}
        >
          Start it now
        </Button>
        <a class="btn plain" href="#trouble">
          Open Trouble
        </a>
      </div>
      <Fault of={asker} />
    </Banner>
  )
}
