/** A line of the job's log: which icon stands before it, and its words where the agent's are shorthand. */
import { count } from './numbers.ts'
import { clusterName } from './pool-names.ts'
import { asSentence } from './sentence.ts'

export type LogKind = 'waiting' | 'trouble' | 'saved' | 'ring' | 'person' | 'plain'

const signs: readonly (readonly [RegExp, LogKind])[] = [
  [/\b(is gone|lost|failed|could not|no whole cluster|stops)\b/i, 'trouble'],
  [/\b(wait|waits|waiting|pause|pauses|paused|nobody)\b/i, 'waiting'],
  [/\b(joined|is back|came|left|removed)\b/i, 'person'],
  [/\b(averag|ring|plan \d)/i, 'ring'],
  [/\b(checkpoint|saved|the model is in|validation|finished)\b/i, 'saved'],
]

/** The line says it in words; the icon only repeats. */
export const kindOfLine = (text: string): LogKind => signs.find(([sign]) => sign.test(text))?.[1] ?? 'plain'

function planWords(number: string, rows: string): string {
  const clusters = rows.split(' | ')
  const pcs = clusters.flatMap((row) => row.split(' → ')).length
  const who = pcs === 1 ? '1 PC' : `${count(pcs)} PCs`
  const where = clusters.length === 1 ? '1 cluster' : `${count(clusters.length)} clusters`
  return `Plan ${number}: ${who} in ${where}.`
}

/** How the agent's shorthand reads; what is none of these is a sentence already. */
const shorthand: readonly (readonly [RegExp, (...parts: string[]) => string])[] = [
  [/^plan (\d+): (.+)$/, planWords],
  [/^(.+) joined \([a-z-]*\)$/, (name) => `${name} joined.`],
  [
    /^cluster (\d+) stops; (\d+) go on$/,
    (cluster, left) =>
      `${clusterName(Number(cluster) - 1)} stops; ${left === '1' ? 'one other goes' : `${left} others go`} on.`,
  ],
  [
    /^cluster (\d+) waits: (.+)$/,
    (cluster, why) => asSentence(`${clusterName(Number(cluster) - 1)} waits: ${why}`),
  ],
  [
    /^after (\d+) updates: validation loss ([\d.]+), accuracy ([\d.]+) %$/,
    (updates, loss, right) =>
      `After ${count(Number(updates))} updates: ${right}% right, validation loss ${loss}.`,
  ],
]

/** A line as the window says it: clusters by letter, as in the picture. */
export function lineInWords(text: string): string {
  for (const [pattern, say] of shorthand) {
    const found = pattern.exec(text)
    if (found !== null) return say(...found.slice(1))
  }
  return asSentence(text)
}
