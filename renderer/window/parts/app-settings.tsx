/** Settings of the desktop app itself: how it looks, when it starts, whether it speaks up. */
import type { JSX } from 'preact'
import type { DesktopState } from '../../../shared/messages/ipc.ts'
import { useAsk } from '../ask.ts'
import { desktop } from '../state.ts'
import { Card, Fault } from './blocks.tsx'

type Theme = DesktopState['theme']
const themes: readonly (readonly [Theme, string])[] = [
  ['system', 'As the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
]
const isTheme = (value: string): value is Theme => themes.some(([theme]) => theme === value)

export function AppSettings(): JSX.Element | null {
  const asker = useAsk()
  const state = desktop.value
  if (state === null) return null
  const change = (part: Partial<Pick<DesktopState, 'startAtLogin' | 'notifications' | 'theme'>>) => {
    void asker
      .ask(() => window.rookery.setDesktop(part))
      .then((answer) => {
        if (answer !== undefined) desktop.value = answer
      })
  }
  return (
    <Card title="This app">
      <div class="row wrap gap-wide">
        <label class="check">
          <input
            type="checkbox"
            checked={state.startAtLogin}
            onChange={(event) => {
              change({ startAtLogin: event.currentTarget.checked })
            }}
          />
          Start when I log in
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={state.notifications}
            onChange={(event) => {
              change({ notifications: event.currentTarget.checked })
            }}
          />
          Notifications
        </label>
        <label class="check">
          Appearance
          <select
            class="select narrow"
            value={state.theme}
            onChange={(event) => {
              const { value } = event.currentTarget
              if (isTheme(value)) change({ theme: value })
            }}
          >
            {themes.map(([theme, words]) => (
              <option key={theme} value={theme}>
                {words}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Fault of={asker} />
    </Card>
  )
}
