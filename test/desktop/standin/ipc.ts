/** `ipcMain`: handlers by channel, called with the sender that the browser vouches for. */
import { EventEmitter } from 'node:events'

type Handler = (event: object, ...input: unknown[]) => unknown

export class NoHandlerError extends Error {}

class IpcMain extends EventEmitter {
  readonly #handlers = new Map<string, Handler>()

  handle(channel: string, handler: Handler): void {
    if (this.#handlers.has(channel))
      throw new NoHandlerError(`Attempted to register a second handler for '${channel}'`)
    this.#handlers.set(channel, handler)
  }

  /** A page invokes a channel. */
  async answer(channel: string, event: object, input: readonly unknown[]): Promise<unknown> {
    const handler = this.#handlers.get(channel)
    if (handler === undefined) throw new NoHandlerError(`No handler registered for '${channel}'`)
    return await handler(event, ...input)
  }
}

export const ipcMain = new IpcMain()
