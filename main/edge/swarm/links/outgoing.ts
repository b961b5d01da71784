/** A stream that we opened: hello and answer first, then bounded pieces with the transport's back-pressure. */
import type { Stream, StreamCloseEvent, StreamMessageEvent } from '@libp2p/interface'
import { PeerLostError, RefusedError } from '../../../../shared/errors.ts'
import { kibibyte, second, type Millis } from '../../../../shared/units.ts'
import type { Line } from './line.ts'
import type { Shaper } from './shaper.ts'
import { acknowledgedBytes, createAcknowledgementReader } from './acknowledgement.ts'
import { createWindow, type Window } from './window.ts'
import { answerOf, encodeHello, isPaced, rankOf, type Answer, type Hello } from './hello.ts'

/**
 * A frame of the muxer, which the receiver sees only when it is whole: small enough that a control message hardly waits
 * behind one, and that several fit into the window of a stream (256 KiB on a LAN), so that both ends work at once.
 */
const pieceBytes = 64 * kibibyte

/** Of bulk, small enough that several are under way. */
function bulkPieceBytes({ bytes }: Window): number {
  const part = Math.floor(bytes / 8 / acknowledgedBytes) * acknowledgedBytes
  return Math.max(acknowledgedBytes, Math.min(pieceBytes, part))
}
/** Long: on a slow line the answer waits behind bulk that is on its way already. */
const answerWithinMs = 30 * second

export interface OutgoingStream {
  /** Resolves when the transport took all of it. @throws PeerLostError when the stream ended before */
  write(pieces: readonly Uint8Array[]): Promise<void>
  /** End it after what was written. */
  close(): Promise<void>
  abort(reason: string): void
}

export interface OutgoingEvents {
  /** The other side showed life. */
  heard(): void
  /** The stream is over, and not because we closed or aborted it. */
  ended(): void
}

/**
 * Wait until the stream takes more. Not `stream.onDrain()`, whose promise is made once and stays resolved; and not
 * the first `drain` event either: it comes before the stream has tried to empty its own buffer.
 */
function drained(stream: Stream): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (deed: () => void): void => {
      stream.removeEventListener('drain', onDrain)
      stream.removeEventListener('close', onClose)
      deed()
    }
    const onDrain = (): void => {
      queueMicrotask(() => {
        if (!stream.writableNeedsDrain) settle(resolve)
      })
    }
    const onClose = (): void => {
      settle(() => {
        reject(new PeerLostError('the stream closed'))
      })
    }
    stream.addEventListener('drain', onDrain)
    stream.addEventListener('close', onClose)
    if (stream.status !== 'open') onClose()
  })
}

async function writePiece(stream: Stream, piece: Uint8Array): Promise<void> {
  let more: boolean
  try {
    more = stream.send(piece)
  } catch (error) {
    throw new PeerLostError(`the stream closed: ${String(error)}`)
  }
  if (!more) await drained(stream)
}

/** The acceptor's first byte. @throws PeerLostError when none comes */
function firstByte(stream: Stream, signal: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    const settle = (deed: () => void): void => {
      stream.removeEventListener('message', onMessage)
      stream.removeEventListener('close', onClose)
      signal.removeEventListener('abort', onAbort)
      deed()
    }
    const fail = (text: string): void => {
      settle(() => {
        reject(new PeerLostError(text))
      })
    }
    const onMessage = ({ data }: StreamMessageEvent): void => {
      const byte = data.subarray(0, 1)[0] ?? 0
      settle(() => {
        resolve(byte)
      })
    }
    const onClose = (): void => {
      fail('the stream closed before the hello was answered')
    }
    const onAbort = (): void => {
      fail('the hello was not answered in time')
    }
    stream.addEventListener('message', onMessage)
    stream.addEventListener('close', onClose)
    signal.addEventListener('abort', onAbort)
    if (stream.status !== 'open') onClose()
    else if (signal.aborted) onAbort()
  })
}

const sentences: Readonly<Record<Exclude<Answer, 'welcome'>, string>> = {
  'unknown-job': 'it takes no part in this job, or no more',
  'out-of-step': 'messages to it were lost on the way',
  'cloned-identity': 'another PC takes part in this job under this PC’s identity',
}

async function greet(stream: Stream, hello: Hello, signal: AbortSignal): Promise<void> {
  const answered = firstByte(stream, AbortSignal.any([signal, AbortSignal.timeout(answerWithinMs)]))
  // Marked as handled: where the write fails, its error is the one to tell.
  answered.catch(() => undefined)
  await writePiece(stream, encodeHello(hello))
  const answer = answerOf(await answered)
  if (answer === undefined) throw new PeerLostError('it speaks another version of the protocol')
  if (answer !== 'welcome') throw new RefusedError(answer, sentences[answer])
}

export interface OutgoingSetup {
  readonly hello: Hello
  readonly events: OutgoingEvents
  readonly shaper: Shaper
  /** That the stream's connection takes. */
  readonly line: Line
}

const now = (): Millis => performance.now()

function hearAcknowledgements(stream: Stream, window: Window): void {
  const read = createAcknowledgementReader((said) => {
    window.acknowledge(said)
  })
  stream.addEventListener('message', ({ data }: StreamMessageEvent) => {
    read(data.subarray())
  })
}

/**
 * Say hello on a new stream and hear the answer.
 *
 * @throws RefusedError with the answer as its code; PeerLostError when the stream ends or no answer comes
 */
export async function openOutgoing(
  stream: Stream,
  { hello, events, shaper, line }: OutgoingSetup,
  signal: AbortSignal,
): Promise<OutgoingStream> {
  let ours = false
  const heard = (): void => {
    events.heard()
  }
  stream.addEventListener('message', heard)
  stream.addEventListener('drain', heard)
  const window = isPaced(hello.lane) ? createWindow(now, () => shaper.isPipelineBusy(line)) : undefined
  const abort = (reason: string): void => {
    ours = true
    stream.abort(new PeerLostError(reason))
  }
  try {
    await greet(stream, hello, signal)
  } catch (error) {
    abort('the hello failed')
    throw error
  }
  if (window !== undefined) hearAcknowledgements(stream, window)
  stream.addEventListener('close', (_event: StreamCloseEvent) => {
    window?.close()
    if (!ours) events.ended()
  })
  if (stream.status !== 'open') throw new PeerLostError('the stream closed')
  return {
    async write(pieces) {
      for (const piece of pieces)
        for (let at = 0; at < piece.length;) {
          const most = window === undefined ? pieceBytes : bulkPieceBytes(window)
          const part = piece.subarray(at, at + shaper.pieceBytes(most))
          at += part.length
          const turn = shaper.leave(part.length, rankOf(hello.lane), line)
          if (turn !== undefined) await turn
          const room = window?.leave(part.length)
          await writePiece(stream, part)
          if (room !== undefined) await room
        }
    },
    async close() {
      ours = true
      await stream.close({ signal: AbortSignal.timeout(answerWithinMs) }).catch(() => {
        stream.abort(new PeerLostError('the stream did not close in time'))
      })
    },
    abort,
  }
}
