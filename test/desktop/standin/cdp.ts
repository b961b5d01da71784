/** The DevTools protocol over one socket: commands with answers, events by session and method. */
import { EventEmitter } from 'node:events'

interface Answer {
  readonly id?: number
  readonly result?: unknown
  readonly error?: { readonly message: string }
  readonly method?: string
  readonly params?: unknown
  readonly sessionId?: string
}

export class DevToolsError extends Error {}

export class DevTools {
  readonly #socket: WebSocket
  readonly #pending = new Map<number, PromiseWithResolvers<unknown> & { readonly method: string }>()
  readonly #events = new EventEmitter().setMaxListeners(0)
  #next = 0

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.addEventListener('message', ({ data }) => {
      this.#take(JSON.parse(String(data)) as Answer)
    })
    // A browser that goes answers nobody any more, perhaps not even to `Browser.close`.
    this.onClose(() => {
      for (const { method, reject } of this.#pending.values())
        reject(new DevToolsError(`${method}: the browser is gone`))
      this.#pending.clear()
    })
  }

  static async connect(url: string): Promise<DevTools> {
    const socket = new WebSocket(url)
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve)
      socket.addEventListener('error', () => {
        reject(new DevToolsError(`no browser answers at ${url}`))
      })
    })
    return new DevTools(socket)
  }

  /** @param session - absent: the browser itself */
  send<T>(method: string, params: object = {}, session?: string): Promise<T> {
    if (this.#socket.readyState !== WebSocket.OPEN)
      return Promise.reject(new DevToolsError(`${method}: the browser is gone`))
    const id = ++this.#next
    const pending = { ...Promise.withResolvers<unknown>(), method }
    this.#pending.set(id, pending)
    this.#socket.send(JSON.stringify({ id, method, params, sessionId: session }))
    return pending.promise as Promise<T>
  }

  on(method: string, listener: (params: never) => void, session = ''): void {
    this.#events.on(`${session}/${method}`, listener as (params: unknown) => void)
  }

  onClose(listener: () => void): void {
    this.#socket.addEventListener('close', listener)
  }

  #take({ id, result, error, method, params, sessionId }: Answer): void {
    if (id === undefined) {
      this.#events.emit(`${sessionId ?? ''}/${method ?? ''}`, params)
      return
    }
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    if (error === undefined) pending?.resolve(result)
    else pending?.reject(new DevToolsError(`${pending.method}: ${error.message}`))
  }
}
