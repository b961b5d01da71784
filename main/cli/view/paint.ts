/** Colour by meaning. Without colour every text still says the same. */
import { styleText } from 'node:util'

export type Tone = 'title' | 'good' | 'warn' | 'bad' | 'faint' | 'accent'
export type Paint = (tone: Tone, text: string) => string

const styles = {
  title: 'bold',
  good: 'green',
  warn: 'yellow',
  bad: 'red',
  faint: 'dim',
  accent: 'cyan',
} as const

export const plainPaint: Paint = (_tone, text) => text
export const colourPaint: Paint = (tone, text) => styleText(styles[tone], text, { validateStream: false })
