/** Wires the desktop: agent, window, tray, links, power, news and the end. No decisions. */
import {
  app,
  clipboard,
  dialog,
  ipcMain,
  Menu,
  nativeTheme,
  Notification,
  powerMonitor,
  session,
} from 'electron'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type AgentLink, createAgentLink } from './agent/agent-link.ts'
import { launchAgent } from './agent/launch.ts'
import { firstDesktopState, withAgent } from './desktop-state.ts'
import { serveWindow } from './ipc.ts'
import { hiddenFlag, setAutostart } from './person/autostart.ts'
import { loadDesktopSettings, saveDesktopSettings } from './person/desktop-file.ts'
import { inviteFileAmong, readInviteFile } from './person/invite-files.ts'
import { linkAmong, linkScheme, type ReadLink, readLink } from './person/invite-links.ts'
import { followNews, type News } from './person/news.ts'
import { followPower } from './person/power.ts'
import type { Places } from './places.ts'
import { createSignal, type Signal } from './signal.ts'
import { hasTray, showTray } from './tray/tray.ts'
import type { TrayDeed } from './tray/tray-menu.ts'
import { windowHandlers } from './window-handlers.ts'
import { lockSession } from './window/locks.ts'
import { type AppWindow, createAppWindow } from './window/window.ts'
import type { DesktopState, WindowInput } from '../../shared/messages/ipc.ts'

interface Desktop {
  readonly places: Places
  readonly link: AgentLink
  readonly state: Signal<DesktopState>
  readonly window: AppWindow
}

export async function openDesktop(places: Places): Promise<void> {
  await mkdir(places.home, { recursive: true, mode: 0o700 })
  const chosen = await loadDesktopSettings(places.home)
  const tray = await hasTray(process.platform, process.env['ROOKERY_TRAY'])
  const state = createSignal(firstDesktopState(chosen, app.getVersion(), tray))
  nativeTheme.themeSource = chosen.theme
  lockSession(session.defaultSession, places.window)
  if (process.platform !== 'darwin') Menu.setApplicationMenu(null)

  const { runtime, agentEntry: entry, home } = places
  const link = createAgentLink({
    launch: () => launchAgent({ runtime, entry, home }),
    now: Date.now,
    later(delayMs, deed) {
      const timer = setTimeout(deed, delayMs)
      return () => {
        clearTimeout(timer)
      }
    },
  })
  link.status.subscribe((status) => {
    state.set(withAgent(state.get(), status))
  })
  const icon = join(places.icons, 'icon.png')
  const { preload } = places
  const window = createAppWindow({
    ...{ preload, icon, developerTools: !app.isPackaged, snapshot: link.snapshot, desktop: state },
  })
  const desktop: Desktop = { places, link, state, window }

  serveTheWindow(desktop)
  if (tray) openTray(desktop)
  takeLinks(desktop)
  followNews(link, (news) => {
    tell(desktop, news)
  })
  followPower(powerMonitor, link)
  endInOrder(desktop)
  link.start()
  if (!(tray && process.argv.includes(hiddenFlag))) window.show()
}

function serveTheWindow(desktop: Desktop): void {
  const { places, link, state, window } = desktop
  const handlers = windowHandlers({
    ...{ link, desktop: state, logs: places.logs, window: window.current },
    setDesktop: (wish) => applyWish(desktop, wish),
    dismissInvite() {
      state.set({ ...state.get(), pendingInvite: null })
    },
  })
  serveWindow(ipcMain, handlers, () => window.current()?.webContents)
}

async function applyWish({ places, state }: Desktop, wish: WindowInput<'setDesktop'>): Promise<void> {
  const before = state.get()
  const startAtLogin = wish.startAtLogin ?? before.startAtLogin
  const notifications = wish.notifications ?? before.notifications
  const theme = wish.theme ?? before.theme
  if (startAtLogin !== before.startAtLogin) {
    await setAutostart(startAtLogin, {
      app,
      platform: process.platform,
      // An AppImage runs from a place that is gone tomorrow; this names the file itself.
      executable: process.env['APPIMAGE'] ?? process.execPath,
      configFolder: app.getPath('appData'),
    })
  }
  await saveDesktopSettings(places.home, { startAtLogin, notifications, theme })
  nativeTheme.themeSource = theme
  state.set({ ...state.get(), startAtLogin, notifications, theme })
}

function openTray({ places, link, window }: Desktop): void {
  const failed = (error: unknown): void => {
    const message = error instanceof Error ? error.message : String(error)
    void dialog.showMessageBox({ type: 'info', title: 'Rookery', message })
  }
  const deeds: { readonly [T in TrayDeed['type']]: (deed: Extract<TrayDeed, { type: T }>) => void } = {
    pause: ({ type: _, ...how }) => {
      link.command('pause', how).catch(failed)
    },
    resume: () => {
      link.command('resume', {}).catch(failed)
    },
    startAgent: () => {
      link.start()
    },
    open: () => {
      window.show()
    },
    quit: () => {
      app.quit()
    },
    copyInvite: ({ invite }) => {
      clipboard.writeText(invite).catch(failed)
    },
  }
  const act = (deed: TrayDeed): void => {
    ;(deeds[deed.type] as (deed: TrayDeed) => void)(deed)
  }
  const face = showTray({ icons: places.icons, platform: process.platform, link, act })
  // No test can reach a system's status bar; it looks here instead.
  if (!app.isPackaged && process.env['ROOKERY_TEST'] !== undefined)
    Object.assign(globalThis, { rookeryTray: face })
}

function takeLinks({ state, window }: Desktop): void {
  const take = (read: ReadLink): void => {
    window.show()
    if (read.type === 'invite') state.set({ ...state.get(), pendingInvite: read.invite })
    else void dialog.showMessageBox({ type: 'warning', title: 'Rookery', message: read.sentence })
  }
  const takeFile = async (path: string): Promise<void> => {
    take(await readInviteFile(path, Date.now()))
  }
  /** False where none of them is an invite. */
  const takeAny = (argv: readonly string[], folder: string): boolean => {
    const link = linkAmong(argv)
    const file = inviteFileAmong(argv, folder)
    if (link !== undefined) take(readLink(link, Date.now()))
    else if (file !== undefined) void takeFile(file)
    return link !== undefined || file !== undefined
  }
  // Only an installed program is worth a system-wide registration.
  if (app.isPackaged) app.setAsDefaultProtocolClient(linkScheme)
  app.on('second-instance', (_event, argv, folder) => {
    if (!takeAny(argv, folder)) window.show()
  })
  app.on('open-url', (event, url) => {
    event.preventDefault()
    take(readLink(url, Date.now()))
  })
  app.on('open-file', (event, path) => {
    event.preventDefault()
    void takeFile(path)
  })
  app.on('activate', window.show)
  takeAny(process.argv, process.cwd())
}

function tell({ state, window }: Pick<Desktop, 'state' | 'window'>, news: News): void {
  if (!state.get().notifications || !Notification.isSupported()) return
  const notification = new Notification(news)
  notification.on('click', window.show)
  notification.show()
}

/** Quit waits until the agent has ended in order; a second wish to quit changes nothing. */
function endInOrder({ link, window }: Desktop): void {
  let ended = false
  let ending = false
  app.on('before-quit', (event) => {
    if (ended) return
    event.preventDefault()
    if (ending) return
    ending = true
    window.current()?.hide()
    void link.stop().finally(() => {
      ended = true
      window.letGo()
      app.quit()
    })
  })
  app.on('window-all-closed', () => undefined)
}
