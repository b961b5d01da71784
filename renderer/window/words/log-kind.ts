/** Which icon stands before a line of the job's log. The line says it in words; the icon only repeats. */

export type LogKind = 'waiting' | 'trouble' | 'saved' | 'ring' | 'person' | 'plain'

const signs: readonly (readonly [RegExp, LogKind])[] = [
  [/\b(is gone|lost|failed|could not|no whole cluster|stops)\b/i, 'trouble'],
  [/\b(wait|waits|waiting|pause|pauses|paused|nobody)\b/i, 'waiting'],
  [/\b(joined|is back|came|left|removed)\b/i, 'person'],
  [/\b(averag|ring|plan \d)/i, 'ring'],
  [/\b(checkpoint|saved|the model is in|validation|finished)\b/i, 'saved'],
]

export const kindOfLine = (text: string): LogKind => signs.find(([sign]) => sign.test(text))?.[1] ?? 'plain'
