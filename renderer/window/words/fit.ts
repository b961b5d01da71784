/** Texts that have to fit into a box of a picture: cut with an ellipsis, between whole characters. */

const characters = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Of a font's size: an ordinary character, and one of a wide script or a pictograph. */
const ordinary = 0.6
const wide = 1.3
/** Sums of tenths are a hair off. */
const rounding = 0.001
const isWide = (character: string): boolean =>
  /\p{Extended_Pictographic}|[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uff00-\uff60]/u.test(character) &&
  !/^[\d#*]$/.test(character)

/** The text, or as much of it as fits; nothing where not even two characters and the ellipsis would. */
export function fit(text: string, room: number, fontSize: number): string {
  const all = Array.from(characters.segment(text), ({ segment }) => segment)
  const widthOf = (character: string): number => fontSize * (isWide(character) ? wide : ordinary)
  const sum = (some: readonly string[]): number => some.reduce((total, one) => total + widthOf(one), 0)
  if (sum(all) <= room + rounding) return text
  let left = room - fontSize * ordinary
  const kept: string[] = []
  for (const character of all) {
    left -= widthOf(character)
    if (left < -rounding) break
    kept.push(character)
  }
  return kept.length < 2 ? '' : `${kept.join('').trimEnd()}…`
}
