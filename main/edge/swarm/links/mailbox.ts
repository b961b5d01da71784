/** Where messages wait for their handler: those to ourselves, and those that come before there is a handler. */
import type { WireMessage } from '../../../../shared/messages/wire.ts'
import { tensorBytesOf } from '../../../../shared/messages/frame.ts'
import { mebibyte } from '../../../../shared/units.ts'
import type { Log, Sender } from '../../../core/ports.ts'

type Handler = (from: Sender, message: WireMessage) => void

/** Enough for what arrives between two handlers, not for a job without any. */
const maxKept = 256
const maxKeptBytes = 64 * mebibyte

export interface Mailbox {
  /** Hand a message to every handler, now. A handler's error is logged: it is never the sender's fault. */
  deliver(from: Sender, message: WireMessage): void
  /** Hand it over soon, after those before it. Resolves when it was. */
  post(from: Sender, message: WireMessage): Promise<void>
  onMessage(handler: Handler): () => void
}

export function createMailbox(log: Log): Mailbox {
  const handlers = new Set<Handler>()
  let early: { from: Sender; message: WireMessage }[] = []
  let earlyBytes = 0

  function keep(from: Sender, message: WireMessage): void {
    earlyBytes += tensorBytesOf(message)
    if (early.length < maxKept && earlyBytes <= maxKeptBytes) early.push({ from, message })
    else log('warn', `a '${message.header.type}' of ${from.peer} was dropped: nobody listens`)
  }
  function deliver(from: Sender, message: WireMessage): void {
    if (handlers.size === 0) keep(from, message)
    for (const handler of [...handlers]) {
      try {
        handler(from, message)
      } catch (error) {
        log('error', `a '${message.header.type}' of ${from.peer} could not be handled`, {
          error: String(error),
        })
      }
    }
  }
  return {
    deliver,
    post: (from, message) =>
      new Promise((resolve) => {
        setImmediate(() => {
          deliver(from, message)
          resolve()
        })
      }),
    onMessage(handler) {
      handlers.add(handler)
      const kept = early
      early = []
      earlyBytes = 0
      for (const { from, message } of kept) deliver(from, message)
      return () => {
        handlers.delete(handler)
      }
    },
  }
}
