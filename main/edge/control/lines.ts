/** Cut a stream of bytes into lines, holding no more than the bound of one line. */
import { BadMessageError } from '../../../shared/errors.ts'
import { mebibyte } from '../../../shared/units.ts'
import type { Bytes } from '../../../shared/units.ts'

/** The longest line a face may send: a job with its whole graph fits easily. */
export const maxFaceLineBytes: Bytes = mebibyte
/** The longest line of an agent: a snapshot of ten thousand peers. */
export const maxAgentLineBytes: Bytes = 16 * mebibyte

const newline = 0x0a

export interface LineCutter {
  /** The lines that this chunk completes, without their ends. @throws BadMessageError when a line is too long */
  push(chunk: Buffer): string[]
}

export function createLineCutter(maxLineBytes: Bytes): LineCutter {
  let held: Buffer[] = []
  let heldBytes = 0
  const take = (part: Buffer): void => {
    heldBytes += part.length
    if (heldBytes > maxLineBytes) {
      held = []
      throw new BadMessageError(`a line is longer than ${maxLineBytes} bytes`)
    }
    held.push(part)
  }
  const complete = (): string => {
    const line = Buffer.concat(held).toString('utf8')
    held = []
    heldBytes = 0
    return line
  }
  return {
    push(chunk) {
      const lines: string[] = []
      let start = 0
      for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
        take(chunk.subarray(start, end))
        lines.push(complete())
        start = end + 1
      }
      if (start < chunk.length) take(chunk.subarray(start))
      return lines
    },
  }
}
