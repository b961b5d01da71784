/** What the window shows, and nothing else: the newest states, the page, the moment. The bridge fills it; pages read it. */
import { computed, signal } from '@preact/signals'
import type { Limits } from '../../shared/limits.ts'
import type { Snapshot } from '../../shared/messages/control.ts'
import type { Bridge, DesktopState } from '../../shared/messages/ipc.ts'
import { second } from '../../shared/units.ts'
import { shownName, withShownNames } from './words/shown-name.ts'
import { stateOfPc } from './words/this-pc.ts'

declare global {
  interface Window {
    readonly rookery: Bridge
  }
}

const pages = ['home', 'job', 'join', 'host', 'limits', 'trouble'] as const
export type PageName = (typeof pages)[number]

const pageFromHash = (): PageName => pages.find((name) => location.hash === `#${name}`) ?? 'home'

export const snapshot = signal<Snapshot | null>(null)
export const desktop = signal<DesktopState | null>(null)
export const page = signal<PageName>(pageFromHash())
/** Milliseconds since 1970, once a second and only while the window is seen. */
export const now = signal(Date.now())
/** The limits as they are set; null until the agent said them. */
export const limits = signal<Limits | null>(null)
export const pcState = computed(() => stateOfPc(snapshot.value, desktop.value, now.value))

export function goTo(name: PageName): void {
  location.hash = name
}

/** Follow the address, so that links, the back key and `goTo` are one. */
export function followAddress(): void {
  addEventListener('hashchange', () => {
    page.value = pageFromHash()
  })
}

/** Ask for the limits again whenever how they stand has changed: the command line may have set them. */
export function followLimits(bridge: Bridge): void {
  let seen = ''
  snapshot.subscribe((state) => {
    if (state === null) return
    const stands = JSON.stringify([
      state.limits.map(({ limit, state: stand }) => [limit, stand]),
      state.version,
    ])
    if (stands === seen) return
    seen = stands
    void bridge.limits({}).then((answer) => {
      if (answer.ok) limits.value = answer.output
    })
  })
}

const readable = (state: Snapshot): Snapshot => ({
  ...state,
  displayName: shownName(state.displayName),
  job: state.job === null ? null : withShownNames(state.job),
})

/** Take states from the bridge. While the window is hidden the newest is kept and nothing is drawn. */
export function followBridge(bridge: Bridge): void {
  let newest: Snapshot | null = null
  let newestDesktop: DesktopState | null = null
  const show = () => {
    if (document.visibilityState === 'hidden') return
    if (newest !== null) snapshot.value = readable(newest)
    if (newestDesktop !== null) desktop.value = newestDesktop
  }
  bridge.onSnapshot((state) => {
    newest = state
    show()
  })
  bridge.onDesktop((state) => {
    newestDesktop = state
    show()
  })
  document.addEventListener('visibilitychange', show)
}

/** Tell the time once a second while somebody can see it. */
export function followTime(): void {
  let timer: ReturnType<typeof setInterval> | undefined
  const tick = () => {
    now.value = Date.now()
  }
  const watch = () => {
    clearInterval(timer)
    if (document.visibilityState === 'hidden') return
    tick()
    timer = setInterval(tick, second)
  }
  document.addEventListener('visibilitychange', watch)
  watch()
}
