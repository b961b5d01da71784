/* eslint no-restricted-syntax: off -- inside a page there are no classes of ours */
/**
 * What runs inside the page. Both functions travel as text and share nothing but `window`'s events, under a name
 * that is drawn anew for each window: the isolated world runs the preload, the main world gets what it exposes.
 */

/** `told`: the isolated world speaks. `asked`: the main world speaks. */
interface Told {
  readonly expose?: string
  readonly names?: readonly string[]
  readonly listener?: number
  readonly reply?: number
  readonly returned?: 'promise' | 'function' | 'value'
  readonly settled?: number
  readonly value?: unknown
  readonly error?: string
}
interface Asked {
  readonly call: number
  readonly name: string
  readonly input: unknown
  /** The input is a function of the page's, known by this number. */
  readonly listener?: number
}

/** The page's own world: builds what the preload exposes. */
export function mainWorld(key: string): void {
  const listeners = new Map<number, (value: unknown) => void>()
  const settled = new Map<number, PromiseWithResolvers<unknown>>()
  let next = 0
  let reply: Told = {}
  const ask = (asked: Asked): void => {
    window.dispatchEvent(new CustomEvent(`${key}:asked`, { detail: asked }))
  }
  const call =
    (name: string) =>
    (input: unknown): unknown => {
      const id = ++next
      if (typeof input === 'function') listeners.set(id, input as (value: unknown) => void)
      const listener = typeof input === 'function' ? { listener: id } : {}
      ask({ call: id, name, input: typeof input === 'function' ? undefined : input, ...listener })
      if (reply.error !== undefined) throw new Error(reply.error)
      if (reply.returned === 'function') return call(`returned:${id}`)
      if (reply.returned === 'value') return reply.value
      const promise = Promise.withResolvers<unknown>()
      settled.set(id, promise)
      return promise.promise
    }
  window.addEventListener(`${key}:told`, (event) => {
    const told = (event as CustomEvent<Told>).detail
    if (told.expose !== undefined) {
      const api = Object.freeze(Object.fromEntries((told.names ?? []).map((name) => [name, call(name)])))
      Object.defineProperty(window, told.expose, { value: api, enumerable: true })
    } else if (told.listener !== undefined) listeners.get(told.listener)?.(told.value)
    else if (told.reply !== undefined) reply = told
    else if (told.settled !== undefined) {
      const promise = settled.get(told.settled)
      settled.delete(told.settled)
      if (told.error === undefined) promise?.resolve(told.value)
      else promise?.reject(new Error(told.error))
    }
  })
}

export interface ToMain {
  readonly type: 'invoke' | 'send'
  readonly channel: string
  readonly call: number
  readonly input: readonly unknown[]
}
export interface ToPage {
  readonly channel?: string
  readonly input?: readonly unknown[]
  readonly call?: number
  readonly output?: unknown
  readonly error?: string
}

/** The preload's world: `require('electron')` as a sandboxed preload has it. @param run - the preload's text */
export function isolatedWorld(key: string, run: (require: (name: string) => unknown) => void): void {
  type Fn = (...input: unknown[]) => unknown
  const world = globalThis as unknown as {
    standinSend: (text: string) => void
    standinTake: (message: ToPage) => void
  }
  const calls = new Map<number, PromiseWithResolvers<unknown>>()
  const channels = new Map<string, Fn[]>()
  let next = 0
  const ipcRenderer = {
    invoke(channel: string, ...input: unknown[]): Promise<unknown> {
      const pending = Promise.withResolvers<unknown>()
      calls.set(++next, pending)
      world.standinSend(JSON.stringify({ type: 'invoke', channel, call: next, input }))
      return pending.promise
    },
    send(channel: string, ...input: unknown[]): void {
      world.standinSend(JSON.stringify({ type: 'send', channel, call: 0, input }))
    },
    on(channel: string, listener: Fn): void {
      channels.set(channel, [...(channels.get(channel) ?? []), listener])
    },
  }
  world.standinTake = ({ channel, input = [], call = 0, output, error }) => {
    if (channel !== undefined) for (const listener of channels.get(channel) ?? []) listener({}, ...input)
    const pending = calls.get(call)
    calls.delete(call)
    if (error === undefined) pending?.resolve(output)
    else pending?.reject(new Error(error))
  }

  const exposed = new Map<string, Fn>()
  const tell = (told: Told): void => {
    window.dispatchEvent(new CustomEvent(`${key}:told`, { detail: told }))
  }
  const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))
  const answer = ({ call, name, input, listener }: Asked): void => {
    const argument =
      listener === undefined
        ? input
        : (value: unknown) => {
            tell({ listener, value })
          }
    const returned = exposed.get(name)?.(argument)
    if (returned instanceof Promise) {
      tell({ reply: call, returned: 'promise' })
      returned.then(
        (value: unknown) => {
          tell({ settled: call, value })
        },
        (thrown: unknown) => {
          tell({ settled: call, error: messageOf(thrown) })
        },
      )
    } else if (typeof returned === 'function') {
      exposed.set(`returned:${call}`, returned as Fn)
      tell({ reply: call, returned: 'function' })
    } else tell({ reply: call, returned: 'value', value: returned })
  }
  window.addEventListener(`${key}:asked`, (event) => {
    const { detail } = event as CustomEvent<Asked>
    try {
      answer(detail)
    } catch (thrown) {
      tell({ reply: detail.call, error: messageOf(thrown) })
    }
  })
  const contextBridge = {
    exposeInMainWorld(name: string, api: Record<string, Fn>): void {
      for (const [key, deed] of Object.entries(api)) exposed.set(key, deed)
      tell({ expose: name, names: Object.keys(api) })
    },
  }
  run((name) => {
    if (name === 'electron') return { contextBridge, ipcRenderer }
    throw new Error(`module not found: ${name} (a sandboxed preload can only require electron)`)
  })
}
