/** A stream that another peer opened: judge its hello, answer, then hand on its frames as they come in. */
import type { Stream, StreamMessageEvent } from '@libp2p/interface'
import { BadMessageError, PoolError } from '../../../../shared/errors.ts'
import { createFrameReader, type FrameEvents, type FrameReader } from '../../../../shared/messages/frame.ts'
import { second, type Bytes } from '../../../../shared/units.ts'
import { createAcknowledger, type Timer } from './acknowledgement.ts'
import { answers, createHelloReader, isPaced, type Answer, type Hello, type LaneName } from './hello.ts'

const helloWithinMs = 10 * second

/** Who takes what comes in after a welcome. */
export interface Guest extends FrameEvents {
  /** So many bytes came in. When a promise comes back, no more are read before it resolves. */
  heard(bytes: Bytes): Promise<void> | undefined
  /** A frame was malformed, or `onHeader` refused it; the stream is aborted. */
  failed(error: PoolError): void
  /** The stream is over. */
  ended(): void
}

export type Verdict = Guest | Exclude<Answer, 'welcome'>

export interface Door {
  /** Judge a hello, at once or in a while. The guest is who takes the frames. */
  admit(hello: Hello, abort: (reason: string) => void): Verdict | Promise<Verdict>
  /** The first bytes were no hello. */
  malformed(error: PoolError): void
}

const timer: Timer = {
  now: () => performance.now(),
  later: (deed, ms) => { setTimeout(deed, ms).unref() }, // prettier-ignore
}

/** What we say on a stream that another opened: single bytes. */
function mouthOf(stream: Stream) {
  const write = (bytes: Uint8Array): void => {
    if (stream.writeStatus === 'writable') stream.send(bytes)
  }
  const say = (answer: Answer): void => {
    write(Uint8Array.of(answers[answer]))
  }
  return { write, say }
}

function turnAway(stream: Stream, answer: Exclude<Answer, 'welcome'>): void {
  mouthOf(stream).say(answer)
  // The answer goes out before the reset that frees the stream at both ends.
  void stream.close().finally(() => {
    stream.abort(new BadMessageError(answer))
  })
}

const readerFor = (guest: Guest, onKeepAlive: () => void): FrameReader =>
  createFrameReader({
    ...(guest.limits === undefined ? {} : { limits: guest.limits }),
    onHeader: (header) => guest.onHeader?.(header),
    onMessage: (message) => {
      guest.onMessage(message)
    },
    onKeepAlive,
  })

/** What the bytes of one stream mean, in order. */
function createConversation(stream: Stream, door: Door, onWelcome: () => void) {
  const helloReader = createHelloReader()
  let frames: FrameReader | undefined
  let guest: Guest | undefined
  let over = false
  let judging = false

  let acknowledge: ((bytes: Bytes) => void) | undefined
  const { write, say } = mouthOf(stream)
  function welcome(admitted: Guest): void {
    guest = admitted
    frames = readerFor(admitted, () => {
      say('welcome')
    })
    say('welcome')
    onWelcome()
  }
  function settle(verdict: Verdict, lane: LaneName): void {
    if (typeof verdict === 'string') {
      over = true
      turnAway(stream, verdict)
    } else {
      if (isPaced(lane)) acknowledge = createAcknowledger(timer, write)
      welcome(verdict)
    }
  }
  /** The dialer says nothing before its answer. */
  async function judge(verdict: Promise<Verdict>, lane: LaneName): Promise<void> {
    judging = true
    const judged = await verdict
    judging = false
    if (stream.status === 'open') settle(judged, lane)
    else if (typeof judged !== 'string') judged.ended()
  }
  function hear(piece: Uint8Array): void {
    if (over) return
    if (judging) throw new BadMessageError('it spoke before its hello was answered')
    if (frames !== undefined) {
      frames.push(piece)
      acknowledge?.(piece.length)
      return
    }
    const read = helloReader.push(piece)
    if (read === undefined) return
    const admitted = door.admit(read.hello, (reason) => {
      stream.abort(new BadMessageError(reason))
    })
    const { lane } = read.hello
    if (admitted instanceof Promise) void judge(admitted, lane)
    else settle(admitted, lane)
    if (read.rest.length > 0) hear(read.rest)
  }
  return {
    hear,
    finish: (): void => {
      frames?.finish()
    },
    guest: (): Guest | undefined => guest,
  }
}

/**
 * Take a stream from a stranger, until its hello says more.
 *
 * The guest is called while the bytes come in, so a stream holds at most one unfinished frame, and that only once
 * its header was allowed.
 */
export function acceptStream(stream: Stream, door: Door): void {
  const deadline = setTimeout(() => {
    stream.abort(new BadMessageError('no hello came in time'))
  }, helloWithinMs)
  deadline.unref()
  const conversation = createConversation(stream, door, () => {
    clearTimeout(deadline)
  })
  const isOpen = (): boolean => stream.status === 'open' || stream.status === 'closing'

  function attempt(deed: () => void): void {
    try {
      deed()
    } catch (error) {
      const fault =
        error instanceof PoolError ? error : new BadMessageError(`it closed early: ${String(error)}`)
      const guest = conversation.guest()
      if (isOpen()) stream.abort(fault)
      if (guest === undefined) door.malformed(fault)
      else guest.failed(fault)
    }
  }
  function hold(turn: Promise<void> | undefined): void {
    if (turn === undefined) return
    // Not at once: a stream that is just being resumed would ask for more data all the same.
    queueMicrotask(() => {
      if (stream.readStatus === 'readable') stream.pause()
    })
    void turn.then(() => {
      if (stream.readStatus !== 'paused') return
      stream.resume()
      if (stream.remoteWriteStatus === 'closed') end()
    })
  }
  /** All was read that will ever come, and the sender says so. */
  function end(): void {
    // What is held back comes first.
    if (stream.readBufferLength > 0) return
    attempt(conversation.finish)
    if (isOpen()) stream.close().catch(() => undefined)
  }
  stream.addEventListener('message', ({ data }: StreamMessageEvent) => {
    attempt(() => {
      hold(conversation.guest()?.heard(data.byteLength))
      for (const piece of data instanceof Uint8Array ? [data] : data) {
        if (!isOpen()) return
        conversation.hear(piece)
      }
    })
  })
  // An orderly end within a frame is a fault of the sender; a reset or a dead connection is only an end.
  stream.addEventListener('remoteCloseWrite', end)
  stream.addEventListener('close', () => {
    clearTimeout(deadline)
    conversation.guest()?.ended()
  })
}
