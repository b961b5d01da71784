/** `BrowserWindow`: a page, and whether it is seen. */
import { EventEmitter } from 'node:events'
import { app } from './app.ts'
import { devTools } from './chromium.ts'
import { preventable } from './preventable.ts'
import { WebContents, type WindowOptions } from './web-contents.ts'

export class UnsafeWindowError extends Error {}

const windows = new Map<number, BrowserWindow>()
let nextId = 1
/** Windows that a page opened although the app said no, and that the browser is about to report. */
let refused = 0

export class BrowserWindow extends EventEmitter {
  readonly id = nextId++
  readonly options: WindowOptions
  readonly webContents: WebContents
  readonly #started: Promise<void>
  #seen: 'shown' | 'hidden' | 'minimized'

  constructor(options: WindowOptions) {
    super()
    const { nodeIntegration, contextIsolation, sandbox } = options.webPreferences
    if (nodeIntegration === true || contextIsolation === false || sandbox === false)
      throw new UnsafeWindowError('the stand-in opens only sandboxed windows with an isolated preload')
    this.options = options
    this.#seen = options.show === false ? 'hidden' : 'shown'
    this.webContents = new WebContents(this)
    windows.set(this.id, this)
    this.#started = this.webContents.start()
  }

  static getAllWindows(): BrowserWindow[] {
    return [...windows.values()]
  }

  static fromWebContents(contents: WebContents): BrowserWindow | null {
    return windows.get(contents.id) ?? null
  }

  static fromId(id: number): BrowserWindow | null {
    return windows.get(id) ?? null
  }

  async loadURL(url: string): Promise<void> {
    await this.#started
    await this.webContents.loadURL(url)
  }

  show(): void {
    this.#become('shown', 'show')
  }

  hide(): void {
    this.#become('hidden', 'hide')
  }

  minimize(): void {
    this.#become('minimized', 'minimize')
  }

  restore(): void {
    this.#become('shown', 'restore')
  }

  focus(): void {
    this.emit('focus')
  }

  isVisible(): boolean {
    return this.#seen !== 'hidden'
  }

  isMinimized(): boolean {
    return this.#seen === 'minimized'
  }

  isDestroyed(): boolean {
    return !windows.has(this.id)
  }

  /** @returns whether it is closed now */
  close(): boolean {
    const event = preventable()
    this.emit('close', event)
    if (event.defaultPrevented()) return false
    this.destroy()
    return true
  }

  destroy(): void {
    if (!windows.delete(this.id)) return
    void devTools()
      .send('Target.closeTarget', { targetId: this.webContents.targetId })
      .catch(() => undefined)
    this.emit('closed')
    if (windows.size > 0) return
    if (app.listenerCount('window-all-closed') > 0) app.emit('window-all-closed')
    else app.quit()
  }

  refuseNextWindow(): void {
    refused++
  }

  #become(seen: 'shown' | 'hidden' | 'minimized', event: string): void {
    const before = this.#seen
    this.#seen = seen
    const state = seen === 'shown' ? 'normal' : 'minimized'
    if (before !== seen) void this.#started.then(() => this.webContents.resize(state)).catch(() => undefined)
    this.emit(event)
  }
}

export const webContents = {
  fromDevToolsTargetId: (target: string): WebContents | undefined =>
    BrowserWindow.getAllWindows().find((window) => window.webContents.targetId === target)?.webContents,
}

/**
 * Close a window that a page opened and should not have. While a debugger is attached (Playwright is one), a new
 * window waits for it, and its opener waits inside `window.open`, for ever if the new window were closed like that.
 */
async function closeRefused(targetId: string): Promise<void> {
  const tools = devTools()
  const attached = await tools.send<{ sessionId: string }>('Target.attachToTarget', {
    ...{ targetId, flatten: true },
  })
  await tools.send('Runtime.runIfWaitingForDebugger', {}, attached.sessionId)
  await tools.send('Target.closeTarget', { targetId })
}

/** Keep the browser's windows and the app's the same. */
export function followTargets(): void {
  const tools = devTools()
  tools.on(
    'Target.targetCreated',
    ({ targetInfo }: { targetInfo: { targetId: string; type: string; openerId?: string } }) => {
      if (targetInfo.type !== 'page' || targetInfo.openerId === undefined || refused === 0) return
      refused--
      // It may be gone by itself.
      closeRefused(targetInfo.targetId).catch(() => undefined)
    },
  )
  tools.on('Target.targetDestroyed', ({ targetId }: { targetId: string }) => {
    const found = BrowserWindow.getAllWindows().find((window) => window.webContents.targetId === targetId)
    found?.destroy()
  })
}
