/** `WebContents`: one page of the browser, its locks, its preload and its messages. */
import { randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { readFileSync } from 'node:fs'
import { app } from './app.ts'
import { devTools } from './chromium.ts'
import { ipcMain } from './ipc.ts'
import { isolatedWorld, mainWorld, type ToMain, type ToPage } from './page-worlds.ts'
import { answerOf, own, travelling } from './protocol.ts'
import { applyPermissions, session } from './session.ts'
import { preventable } from './preventable.ts'

/** The name that Electron gives a preload's world. */
const worldName = 'Electron Isolated Context'

export interface WindowOptions {
  readonly width: number
  readonly height: number
  readonly show?: boolean
  readonly webPreferences: {
    readonly preload: string
    readonly sandbox?: boolean
    readonly contextIsolation?: boolean
    readonly nodeIntegration?: boolean
    readonly webviewTag?: boolean
    readonly devTools?: boolean
  }
}

/** What Electron takes where a window says nothing. */
const defaultPreferences = {
  ...{ sandbox: true, contextIsolation: true, nodeIntegration: false, webviewTag: false, devTools: true },
}

/** Of the window around the page, what the page needs. */
interface Surround {
  readonly id: number
  readonly options: WindowOptions
  isDestroyed(): boolean
  close(): boolean
  refuseNextWindow(): void
}

interface Frame {
  readonly id: string
  readonly parentId?: string
  readonly url: string
}
interface PausedRequest {
  readonly requestId: string
  readonly request: { readonly url: string; readonly method: string }
  readonly resourceType: string
  readonly frameId: string
}
/** Electron asks for no icon that the page does not name. */
const noIcon = (): Response => new Response(null, { status: 204 })

type OpenHandler = (details: { readonly url: string }) => { readonly action: 'allow' | 'deny' }

export class WebContents extends EventEmitter {
  readonly id: number
  readonly session = session.defaultSession
  readonly #window: Surround
  readonly #frames = new Map<string, Frame>()
  /** Of the preload's worlds: execution context to frame. */
  readonly #worlds = new Map<number, string>()
  #target = ''
  #session = ''
  #mainFrame = ''
  #expected: string | undefined
  #mayOpen: OpenHandler = () => ({ action: 'allow' })

  constructor(window: Surround) {
    super()
    this.#window = window
    this.id = window.id
  }

  get targetId(): string {
    return this.#target
  }

  setWindowOpenHandler(handler: OpenHandler): void {
    this.#mayOpen = handler
  }

  getLastWebPreferences(): WindowOptions['webPreferences'] {
    return { ...defaultPreferences, ...this.#window.options.webPreferences }
  }

  getURL(): string {
    return own(this.#frames.get(this.#mainFrame)?.url ?? '')
  }

  isDestroyed(): boolean {
    return this.#window.isDestroyed()
  }

  close(): void {
    this.#window.close()
  }

  /** Open the page and put everything in place before its first script. */
  async start(): Promise<void> {
    const { width, height, webPreferences } = this.#window.options
    const tools = devTools()
    const made = await tools.send<{ targetId: string }>('Target.createTarget', {
      ...{ url: 'about:blank', newWindow: true, width, height },
    })
    this.#target = made.targetId
    const attached = await tools.send<{ sessionId: string }>('Target.attachToTarget', {
      ...{ targetId: this.#target, flatten: true },
    })
    this.#session = attached.sessionId
    this.#listen()
    app.emit('web-contents-created', {}, this)
    const key = randomUUID()
    const scripts = [{ source: `(${mainWorld.toString()})(${JSON.stringify(key)})` }]
    const preload = readFileSync(webPreferences.preload, 'utf8')
    const isolated = `if (window === window.top) (${isolatedWorld.toString()})(${JSON.stringify(key)}, (require) => {
      const module = { exports: {} }, exports = module.exports
      ${preload}
    })`
    await Promise.all([
      this.ask('Page.enable'),
      this.ask('Runtime.addBinding', { name: 'standinSend', executionContextName: worldName }),
      ...scripts.map((script) => this.ask('Page.addScriptToEvaluateOnNewDocument', script)),
      this.ask('Page.addScriptToEvaluateOnNewDocument', { source: isolated, worldName }),
      this.ask('Runtime.enable'),
      this.ask('Fetch.enable', { patterns: [{ urlPattern: '*' }] }),
      applyPermissions(),
    ])
  }

  async loadURL(url: string): Promise<void> {
    const loaded = new Promise((resolve) => this.once('did-finish-load', resolve))
    this.#expected = travelling(url)
    await this.ask('Page.navigate', { url: this.#expected })
    await loaded
  }

  /** A message to the preload of the main frame. */
  send(channel: string, ...input: unknown[]): void {
    for (const [context, frame] of this.#worlds)
      if (frame === this.#mainFrame) void this.#deliver(context, { channel, input })
  }

  async resize(state: 'normal' | 'minimized'): Promise<void> {
    const found = await devTools().send<{ windowId: number }>('Browser.getWindowForTarget', {
      targetId: this.#target,
    })
    await devTools().send('Browser.setWindowBounds', {
      ...{ windowId: found.windowId, bounds: { windowState: state } },
    })
  }

  ask<T>(method: string, params: object = {}): Promise<T> {
    return devTools().send<T>(method, params, this.#session)
  }

  #on(method: string, listener: (params: never) => void): void {
    devTools().on(method, listener, this.#session)
  }

  #listen(): void {
    this.#on(
      'Runtime.executionContextCreated',
      ({ context }: { context: { id: number; name: string; auxData: { frameId: string } } }) => {
        if (context.name === worldName) this.#worlds.set(context.id, context.auxData.frameId)
      },
    )
    this.#on(
      'Runtime.executionContextDestroyed',
      ({ executionContextId }: { executionContextId: number }) => {
        this.#worlds.delete(executionContextId)
      },
    )
    this.#on('Runtime.executionContextsCleared', () => {
      this.#worlds.clear()
    })
    this.#on('Page.frameNavigated', ({ frame }: { frame: Frame }) => {
      this.#frames.set(frame.id, frame)
      if (frame.parentId === undefined) this.#mainFrame = frame.id
    })
    this.#on('Page.loadEventFired', () => {
      this.emit('did-finish-load')
    })
    this.#on('Page.windowOpen', ({ url }: { url: string }) => {
      if (this.#mayOpen({ url: own(url) }).action === 'deny') this.#window.refuseNextWindow()
    })
    this.#on('Runtime.bindingCalled', (called: { payload: string; executionContextId: number }) => {
      void this.#take(JSON.parse(called.payload) as ToMain, called.executionContextId)
    })
    this.#on('Fetch.requestPaused', (paused: PausedRequest) => {
      // The page may be gone before its request is answered.
      this.#answer(paused).catch(() => undefined)
    })
  }

  async #answer({ requestId, request, resourceType, frameId }: PausedRequest): Promise<void> {
    const { url, method } = request
    const leaves = resourceType === 'Document' && (this.#mainFrame === '' || frameId === this.#mainFrame)
    if (leaves && this.#expected !== url) {
      const event = { ...preventable(), url: own(url) }
      this.emit('will-navigate', event, own(url))
      if (event.defaultPrevented()) {
        await this.ask('Fetch.failRequest', { requestId, errorReason: 'Aborted' })
        return
      }
    }
    const response = url.endsWith('/favicon.ico') ? noIcon() : await answerOf(url, method)
    if (response === undefined) {
      await this.ask('Fetch.continueRequest', { requestId })
      return
    }
    await this.ask('Fetch.fulfillRequest', {
      requestId,
      responseCode: response.status,
      responseHeaders: [...response.headers].map(([name, value]) => ({ name, value })),
      body: Buffer.from(await response.arrayBuffer()).toString('base64'),
    })
  }

  async #take({ type, channel, call, input }: ToMain, context: number): Promise<void> {
    const frame = this.#frames.get(this.#worlds.get(context) ?? '')
    const senderFrame = { url: own(frame?.url ?? ''), parent: frame?.parentId ?? null }
    const event = { sender: this, senderFrame }
    if (type === 'send') {
      ipcMain.emit(channel, event, ...input)
      return
    }
    try {
      const output = await ipcMain.answer(channel, event, input)
      await this.#deliver(context, { call, output })
    } catch (thrown) {
      const message = thrown instanceof Error ? thrown.message : String(thrown)
      const error = `Error invoking remote method '${channel}': Error: ${message}`
      await this.#deliver(context, { call, error })
    }
  }

  async #deliver(context: number, message: ToPage): Promise<void> {
    const expression = `standinTake(${JSON.stringify(message)})`
    // A page that is leaving needs no answer.
    await this.ask('Runtime.evaluate', { expression, contextId: context }).catch(() => undefined)
  }
}
