/** A line of the job's log as a sentence. */
import { asSentence } from './sentence.ts'

/** Which engine somebody came with is for the log file. */
const engine = /(?<= (?:joined|is back)) \([a-z-]*\)$/

export const lineInWords = (text: string): string => asSentence(text.replace(engine, ''))
