/** Text in columns of a terminal: names of strangers made harmless, cut and padded to an exact width. */
import { stripVTControlCharacters } from 'node:util'

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })
/** Letters that take two columns: East Asian wide forms and emoji. @see Unicode Standard Annex 11 */
const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|^\p{Emoji_Presentation}/u

/** Columns that a text without control characters takes. */
export function displayWidth(text: string): number {
  let width = 0
  for (const { segment } of segmenter.segment(stripVTControlCharacters(text))) {
    width += wide.test(segment) ? 2 : 1
  }
  return width
}

/** A stranger's text on one line, without anything that could steer the terminal. */
export function harmless(text: string): string {
  return withoutControl(text).trim()
}

/** Without control and format characters, the right-to-left overrides among them. */
const withoutControl = (text: string): string =>
  stripVTControlCharacters(text).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')

/** A longer text of strangers or of a model: its line ends stay. */
export function harmlessLines(text: string): string {
  return text.split('\n').map(withoutControl).join('\n')
}

const colourCode = new RegExp(`(${String.fromCharCode(27)}\\[[0-9;]*m)`)

/** The text, cut with an ellipsis when it takes more than `width` columns. Colours after the cut still end. */
export function cut(text: string, width: number): string {
  if (displayWidth(text) <= width) return text
  let kept = ''
  let used = 0
  let full = false
  text.split(colourCode).forEach((part, index) => {
    // Every second part is a colour code.
    if (index % 2 === 1) kept += part
    else if (!full) {
      const fitting = widest(part, width - 1 - used)
      kept += fitting
      used += displayWidth(fitting)
      full = fitting.length < part.length
      if (full) kept += '…'
    }
  })
  return kept
}

/** The longest beginning that takes no more than `room` columns. */
function widest(text: string, room: number): string {
  let end = 0
  let used = 0
  for (const { segment } of segmenter.segment(text)) {
    used += wide.test(segment) ? 2 : 1
    if (used > room) break
    end += segment.length
  }
  return text.slice(0, end)
}

/** Exactly `width` columns: cut or padded on the right. */
export function column(text: string, width: number): string {
  const fitting = cut(text, width)
  return fitting + ' '.repeat(Math.max(0, width - displayWidth(fitting)))
}

/** Exactly `width` columns, flush right. */
export function columnRight(text: string, width: number): string {
  const fitting = cut(text, width)
  return ' '.repeat(Math.max(0, width - displayWidth(fitting))) + fitting
}

/** Two texts at the two ends of a line; the left one gives way. */
export function bothEnds(left: string, right: string, width: number): string {
  return `${column(left, Math.max(0, width - displayWidth(right) - 1))} ${right}`
}
