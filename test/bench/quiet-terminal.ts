/** A terminal that shows nothing: a benchmark's own numbers are all that matters. */
import type { Terminal } from '../../main/cli/terminal.ts'
import { plainPaint } from '../../main/cli/view/paint.ts'

const nothing = () => undefined

export const quietTerminal: Terminal = {
  json: false,
  live: false,
  paint: plainPaint,
  size: () => ({ columns: 80, rows: 24 }),
  event: nothing,
  say: nothing,
  answer: nothing,
  picture: nothing,
  endPicture: nothing,
}
