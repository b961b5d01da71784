/** Limits: each with its setting, whether it is in force now, and why. A change is sent at once. */
import type { ComponentChildren, JSX } from 'preact'
import type { LimitName, LimitState, Limits } from '../../../shared/limits.ts'
import { useAsk } from '../ask.ts'
import type { Asker } from '../ask.ts'
import { AppSettings } from '../parts/app-settings.tsx'
import { AgentStopped } from '../parts/agent-stopped.tsx'
import { Fault, PageHead } from '../parts/blocks.tsx'
import { Icon } from '../parts/icon.tsx'
import type { IconName } from '../parts/icon.tsx'
import { editors } from '../parts/limit-editors.tsx'
import { limits, snapshot } from '../state.ts'
import { limitNames, limitOrder, reasonInWords, stateWords, useWords } from '../words/limits.ts'
import { asSentence } from '../words/sentence.ts'

const looks: Readonly<Record<LimitState['state'], readonly [tone: string, icon: IconName]>> = {
  off: ['off', 'no'],
  'in-force': ['force', 'force'],
  allows: ['ok', 'ok'],
  pausing: ['paused', 'paused'],
}

function Now({ stand }: { readonly stand: LimitState | undefined }): JSX.Element {
  if (stand === undefined) return <div class="now">The agent has not said yet.</div>
  const [tone, icon] = looks[stand.state]
  return (
    <div class="now">
      <span class={`state is-${tone}`}>
        <Icon name={icon} />
        {stateWords[stand.state]}.
      </span>{' '}
      {reasonInWords(stand.reason)} {useWords(stand.limit, snapshot.value)}
    </div>
  )
}

function LimitRow({
  name,
  asker,
  children,
}: {
  readonly name: LimitName
  readonly asker: Asker
  readonly children: ComponentChildren
}): JSX.Element {
  const stand = snapshot.value?.limits.find(({ limit }) => limit === name)
  return (
    <div class="limit" role="group" aria-label={limitNames[name]}>
      <div class="what">{limitNames[name]}</div>
      <div class="set">
        {children}
        <Fault of={asker} />
      </div>
      <Now stand={stand} />
    </div>
  )
}

function EditedLimit({ name, set }: { readonly name: LimitName; readonly set: Limits }): JSX.Element {
  const asker = useAsk()
  const Editor = editors[name]
  const change = async (part: Partial<Limits>) => {
    const answer = await asker.ask(() => window.rookery.setLimits(part))
    if (answer !== undefined) limits.value = answer
  }
  return (
    <LimitRow name={name} asker={asker}>
      <Editor set={set} change={(part) => void change(part)} />
    </LimitRow>
  )
}

export function LimitsPage(): JSX.Element {
  const set = limits.value
  return (
    <>
      <PageHead
        title="Limits"
        lead="What Rookery may use on this PC. A change holds within a second, also for the command line."
      />
      <AgentStopped />
      {set === null ? (
        <section class="card">
          <p class="soft">
            {asSentence('the agent has not said its limits yet; they show as soon as it runs')}
          </p>
        </section>
      ) : (
        <section class="card limits flush">
          <div class="limit th" aria-hidden="true">
            <span>Limit</span>
            <span>Setting</span>
            <span>Now</span>
          </div>
          {limitOrder.map((name) => (
            <EditedLimit key={name} name={name} set={set} />
          ))}
        </section>
      )}
      <AppSettings />
    </>
  )
}
