/** The agent's end of one connection: token first, then commands and snapshots, with bounds on everything a face can make grow. */
import type { Socket } from 'node:net'
import { reportOf } from '../../../shared/errors.ts'
import type { ErrorReport } from '../../../shared/errors.ts'
import type { AgentLine, FaceLine } from '../../../shared/messages/control.ts'
import { second } from '../../../shared/units.ts'
import { isSameToken } from './credentials.ts'
import { answerCommand, readFaceLine } from './face-lines.ts'
import type { CommandHandlers, Refusal } from './face-lines.ts'
import { createLineCutter, maxFaceLineBytes } from './lines.ts'

export interface FacePorts {
  readonly token: string
  readonly handlers: CommandHandlers
  /** The newest snapshot as a line of its own, ready to write. */
  snapshotLine(): string
}

export interface FaceConnection {
  /** Show it to the face if it watches. A face that has not read the last one gets only the newest, later. */
  offerSnapshot(line: string): void
  /** Send what is written, then close; at once after a second. */
  end(): void
}

/** A face that does not say hello within this is no face. */
const helloDeadlineMs = 5 * second
const endDeadlineMs = second
/** Commands a face may have unanswered before we stop reading from it. */
const maxPendingCommands = 32

interface Face {
  readonly socket: Socket
  readonly ports: FacePorts
  readonly helloDeadline: NodeJS.Timeout
  standing: 'stranger' | 'known' | 'gone'
  watching: boolean
  /** A snapshot that waits until the face has read what it was sent. */
  waiting: string | undefined
  pendingCommands: number
}

export const lineOf = (message: AgentLine): string => `${JSON.stringify(message)}\n`

/** Serve one connection until either side ends it. `onGone` is called once. */
export function serveFace(socket: Socket, ports: FacePorts, onGone: () => void): FaceConnection {
  const face: Face = {
    socket,
    ports,
    helloDeadline: setTimeout(() => socket.destroy(), helloDeadlineMs),
    standing: 'stranger',
    watching: false,
    waiting: undefined,
    pendingCommands: 0,
  }
  const cutter = createLineCutter(maxFaceLineBytes)
  socket.on('data', (chunk) => {
    try {
      for (const line of cutter.push(chunk)) take(face, line)
    } catch (thrown) {
      refuse(face, 0, reportOf(thrown))
    }
    readOnlyWhatFits(face)
  })
  socket.on('drain', () => {
    const line = face.waiting
    face.waiting = undefined
    if (line !== undefined) showSnapshot(face, line)
    readOnlyWhatFits(face)
  })
  socket.on('error', () => socket.destroy())
  socket.on('close', () => {
    clearTimeout(face.helloDeadline)
    face.standing = 'gone'
    onGone()
  })
  return {
    offerSnapshot(line) {
      if (face.watching && face.standing === 'known') showSnapshot(face, line)
    },
    end() {
      end(face)
    },
  }
}

function take(face: Face, text: string): void {
  if (face.standing === 'gone') return
  const line = readFaceLine(text)
  if (face.standing === 'known') obey(face, line)
  else if (line.type === 'hello' && isSameToken(line.token, face.ports.token)) {
    clearTimeout(face.helloDeadline)
    face.standing = 'known'
    write(face, lineOf({ type: 'welcome' }))
  } else {
    refuse(face, 0, {
      kind: 'bad-input',
      code: 'wrong-token',
      message: 'the agent does not know this token',
    })
  }
}

function obey(face: Face, line: FaceLine | Refusal): void {
  switch (line.type) {
    case 'hello':
      return
    case 'refusal':
      refuse(face, line.id, line.error)
      return
    case 'watch':
      face.watching = true
      showSnapshot(face, face.ports.snapshotLine())
      return
    case 'command':
      face.pendingCommands += 1
      void answerCommand(face.ports.handlers, line).then((reply) => {
        face.pendingCommands -= 1
        write(face, lineOf(reply))
        readOnlyWhatFits(face)
      })
  }
}

function write(face: Face, line: string): void {
  if (face.socket.writable) face.socket.write(line)
}

function showSnapshot(face: Face, line: string): void {
  if (face.socket.writableNeedDrain) face.waiting = line
  else write(face, line)
}

/** A face that does not read, or asks faster than we answer, is not read from either. */
function readOnlyWhatFits(face: Face): void {
  if (face.socket.writableNeedDrain || face.pendingCommands >= maxPendingCommands) face.socket.pause()
  else face.socket.resume()
}

function refuse(face: Face, id: number, error: ErrorReport): void {
  write(face, lineOf({ type: 'failed', id, error }))
  if (id === 0) end(face)
}

function end(face: Face): void {
  face.standing = 'gone'
  face.waiting = undefined
  face.socket.destroySoon()
  setTimeout(() => face.socket.destroy(), endDeadlineMs).unref()
}
