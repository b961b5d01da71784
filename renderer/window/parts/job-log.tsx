/** What happened in the job, newest first, with a reason for every wait. */
import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import type { JobView, LogKind } from '../../../shared/messages/control.ts'
import { lineInWords } from '../words/log-line.ts'
import { clock } from '../words/numbers.ts'
import { Icon } from './icon.tsx'
import type { IconName } from './icon.tsx'

const shown = 8

const icons: Readonly<Record<LogKind, IconName>> = {
  info: 'info',
  wait: 'wait',
  warn: 'bad',
}

export function JobLog({ log }: { readonly log: JobView['log'] }): JSX.Element {
  const all = useSignal(false)
  const newestFirst = log.toReversed()
  const lines = all.value ? newestFirst : newestFirst.slice(0, shown)
  return (
    <section class="card">
      <div class="top">
        <h2>What happened</h2>
        {log.length > shown ? (
          <button
            type="button"
            class="btn plain small flush"
            aria-expanded={all.value}
            onClick={() => {
              all.value = !all.value
            }}
          >
            {all.value ? 'Newest only' : `All ${log.length} lines`}
          </button>
        ) : null}
      </div>
      {log.length === 0 ? (
        <p class="soft">Nothing yet. Who joins, leaves, waits and why will stand here.</p>
      ) : (
        <ol class="log">
          {lines.map(({ atMs, text, kind = 'info' }, index) => (
            <li key={newestFirst.length - index} class={`is-${kind}`}>
              <time dateTime={new Date(atMs).toISOString()}>{clock(atMs)}</time>
              <Icon name={icons[kind]} />
              <span>{lineInWords(text)}</span>
            </li>
          ))}
        </ol>
      )}
    </section>
  )
}
