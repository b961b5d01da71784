/** Where a command writes: JSON for programs on stdout, text for people, a live picture where a person looks. */
import { createLogUpdate } from 'log-update'
import type { WriteStream } from 'node:tty'
import { colourPaint, plainPaint } from './view/paint.ts'
import type { Paint } from './view/paint.ts'

export interface Terminal {
  readonly json: boolean
  /** A person looks and may press keys: a live picture is shown instead of lines. */
  readonly live: boolean
  readonly paint: Paint
  size(): { readonly columns: number; readonly rows: number }
  /** A line for programs; nothing without `--json`. */
  event(event: { readonly event: string } & Readonly<Record<string, unknown>>): void
  /** What happens, for people: stderr. */
  say(text: string): void
  /** What was asked for, for people: stdout, or stderr when programs read stdout. */
  answer(text: string): void
  /** Replace the live picture. Only where `live`. */
  picture(text: string): void
  /** Leave the last picture where it is and go on below. */
  endPicture(): void
}

/** Standard streams may be pipes; only a terminal has a size. */
type Out = NodeJS.WriteStream | WriteStream

const defaultSize = { columns: 80, rows: 24 }

/** A terminal too narrow for rows gets them cut; no text grows with a wide one beyond reading width. */
const widest = 110

export function createTerminal(
  streams: { readonly stdout: Out; readonly stderr: Out },
  options: { readonly json?: boolean },
): Terminal {
  const json = options.json === true
  const { stdout, stderr } = streams
  const live = !json && stderr.isTTY && process.env['TERM'] !== 'dumb'
  const picture = live ? createLogUpdate(stderr) : undefined
  const coloured = stderr.isTTY && stderr.hasColors()
  const size = (): { columns: number; rows: number } => ({
    columns: Math.min(widest, (stderr.isTTY ? stderr.columns : 0) || defaultSize.columns),
    rows: (stderr.isTTY ? stderr.rows : 0) || defaultSize.rows,
  })
  return {
    json,
    live,
    paint: coloured ? colourPaint : plainPaint,
    size,
    event(event) {
      if (json) stdout.write(`${JSON.stringify(event)}\n`)
    },
    say(text) {
      if (picture === undefined) stderr.write(`${text}\n`)
      else picture.persist(text)
    },
    answer(text) {
      if (json) stderr.write(`${text}\n`)
      else stdout.write(`${text}\n`)
    },
    picture(text) {
      picture?.(text)
    },
    endPicture() {
      picture?.done()
    },
  }
}
