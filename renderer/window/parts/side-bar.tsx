/** The side bar: pages, and at its foot this PC, its state, the reason and the way to stop it. On every page. */
import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useAsk } from '../ask.ts'
import { desktop, now, page, pcState, snapshot } from '../state.ts'
import type { PageName } from '../state.ts'
import { needsALook } from '../words/checks.ts'
import { asTitle } from '../words/sentence.ts'
import { Fault, StateWord } from './blocks.tsx'
import { Button } from './button.tsx'
import { Icon, Logo } from './icon.tsx'
import type { IconName } from './icon.tsx'

const names: readonly (readonly [PageName & IconName, string])[] = [
  ['home', 'Home'],
  ['job', 'Job'],
  ['join', 'Join'],
  ['host', 'Host'],
  ['limits', 'Limits'],
  ['trouble', 'Trouble'],
]

const hour = 3_600_000

/** To six in the morning: nobody means midnight by "tomorrow". */
function untilTomorrow(nowMs: number): number {
  const morning = new Date(nowMs)
  morning.setDate(morning.getDate() + 1)
  morning.setHours(6, 0, 0, 0)
  return morning.getTime() - nowMs
}

const pauses: readonly (readonly [string, (nowMs: number) => number | undefined])[] = [
  ['for 1 h', () => hour],
  ['for 4 h', () => 4 * hour],
  ['until tomorrow, 06:00', untilTomorrow],
  ['until I resume', () => undefined],
]

function PauseControl(): JSX.Element {
  const asker = useAsk()
  const open = useSignal(false)
  const pause = (forMs: number | undefined) => {
    open.value = false
    void asker.ask(() => window.rookery.pause(forMs === undefined ? {} : { forMs }))
  }
  const waits = snapshot.value?.pauseAfterRound != null
  const turn = () => {
    open.value = false
    void asker.ask(() => (waits ? window.rookery.resume({}) : window.rookery.pause({ after: 'round' })))
  }
  return (
    <>
      {open.value ? (
        <div class="pause-list" role="group" aria-label="How long to pause">
          <Button kind="plain" onPress={turn}>
            {waits ? 'keep training' : 'after this round'}
          </Button>
          {pauses.map(([words, forMs]) => (
            <Button
              key={words}
              kind="plain"
              onPress={() => {
                pause(forMs(now.peek()))
              }}
            >
              {words}
            </Button>
          ))}
        </div>
      ) : null}
      <div class="split">
        <Button
          busy={asker.busy.value}
          onPress={() => {
            pause(undefined)
          }}
        >
          <Icon name="pause" />
          Pause
        </Button>
        <button
          type="button"
          class="btn"
          aria-expanded={open.value}
          onClick={() => {
            open.value = !open.value
          }}
        >
          for…
        </button>
      </div>
      <Fault of={asker} />
    </>
  )
}

function StateButton(): JSX.Element | null {
  const asker = useAsk()
  const { button } = pcState.value
  if (button === 'none') return null
  if (button === 'pause') return <PauseControl />
  const start = button === 'start'
  return (
    <>
      <Button
        busy={asker.busy.value}
        onPress={() => asker.ask(() => (start ? window.rookery.startAgent({}) : window.rookery.resume({})))}
      >
        <Icon name="play" />
        {start ? 'Start' : 'Resume'}
      </Button>
      <Fault of={asker} />
    </>
  )
}

function Here(): JSX.Element {
  const { tone, word, detail } = pcState.value
  return (
    <div class="here" role="group" aria-label="This PC">
      <div>
        <div class="small faint">This PC: {snapshot.value?.displayName ?? '…'}</div>
        <StateWord tone={tone} word={word} />
        <div class="small soft">{asTitle(detail)}</div>
        {/* The state alone is told: speed and seconds change all the time. */}
        <div class="visually-hidden" role="status">
          {word}
        </div>
      </div>
      <StateButton />
    </div>
  )
}

export function SideBar(): JSX.Element {
  const attention = needsALook(snapshot.value, desktop.value)
  return (
    <aside class="side" aria-label="Rookery">
      <div class="brand">
        <Logo />
        Rookery
      </div>
      <nav class="nav" aria-label="Pages">
        {names.map(([name, words]) => (
          <a key={name} href={`#${name}`} aria-current={page.value === name ? 'page' : undefined}>
            <Icon name={name} />
            <span>{words}</span>
            {name === 'trouble' && attention !== 'none' ? (
              <span class={`count state is-${attention === 'bad' ? 'trouble' : 'waiting'}`}>
                <Icon name="warn" />
                <span class="visually-hidden">needs attention</span>
              </span>
            ) : null}
          </a>
        ))}
      </nav>
      <Here />
    </aside>
  )
}
