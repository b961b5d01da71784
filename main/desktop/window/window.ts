/** The one window: made when it is first shown, hidden rather than closed, told the newest state while it is seen. */
import { BrowserWindow, nativeTheme } from 'electron'
import type { Snapshot } from '../../../shared/messages/control.ts'
import type { DesktopState } from '../../../shared/messages/ipc.ts'
import { toldChannels } from '../../../shared/messages/channels.ts'
import type { Signal } from '../signal.ts'
import { windowPage } from './app-protocol.ts'

export interface WindowPorts {
  readonly preload: string
  readonly icon: string
  readonly developerTools: boolean
  readonly snapshot: Signal<Snapshot | undefined>
  readonly desktop: Signal<DesktopState>
}

export interface AppWindow {
  readonly show: () => void
  /** Undefined before it was first shown. */
  readonly current: () => BrowserWindow | undefined
  /** From now on closing it closes it. */
  readonly letGo: () => void
}

/** `--window` of the style sheet, so that nothing flashes before the page is there. */
const backgrounds = { dark: '#12181b', light: '#f4f6f6' }

export function createAppWindow(ports: WindowPorts): AppWindow {
  let window: BrowserWindow | undefined
  let leaving = false

  function open(): BrowserWindow {
    const made = makeWindow(ports)
    made.on('close', (event) => {
      if (leaving) return
      event.preventDefault()
      if (ports.desktop.get().tray) made.hide()
      else made.minimize()
    })
    made.on('closed', () => {
      window = undefined
    })
    keepTold(made, ports)
    void made.loadURL(windowPage)
    return made
  }

  return {
    show() {
      window ??= open()
      if (window.isMinimized()) window.restore()
      window.show()
      window.focus()
    },
    current: () => window,
    letGo() {
      leaving = true
    },
  }
}

function makeWindow({ preload, icon, developerTools }: WindowPorts): BrowserWindow {
  return new BrowserWindow({
    title: 'Rookery',
    icon,
    width: 1100,
    height: 760,
    minWidth: 480,
    minHeight: 480,
    show: false,
    autoHideMenuBar: true,
    backgroundColor: nativeTheme.shouldUseDarkColors ? backgrounds.dark : backgrounds.light,
    webPreferences: {
      preload,
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      webviewTag: false,
      spellcheck: false,
      devTools: developerTools,
    },
  })
}

/** A hidden window is told nothing; it hears the newest when it is seen again. */
function keepTold(window: BrowserWindow, { snapshot, desktop }: WindowPorts): void {
  const seen = (): boolean => window.isVisible() && !window.isMinimized()
  const tell = (channel: string, value: unknown): void => {
    if (!window.isDestroyed() && seen() && value !== undefined) window.webContents.send(channel, value)
  }
  const tellSnapshot = (): void => {
    tell(toldChannels.snapshot, snapshot.get())
  }
  const tellDesktop = (): void => {
    tell(toldChannels.desktop, desktop.get())
  }
  const tellAll = (): void => {
    tellDesktop()
    tellSnapshot()
  }
  const ends = [snapshot.subscribe(tellSnapshot), desktop.subscribe(tellDesktop)]
  window.webContents.on('did-finish-load', tellAll)
  window.on('show', tellAll)
  window.on('restore', tellAll)
  window.on('closed', () => {
    for (const end of ends) end()
  })
}
