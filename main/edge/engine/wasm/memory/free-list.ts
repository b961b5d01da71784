/** Which bytes of a region are free: first fit, neighbours joined. For the heap itself, and for planning within a block. */
import { InvariantError } from '../../../../../shared/errors.ts'
import type { Bytes } from '../../../../../shared/units.ts'

/** Vectors and cache lines start here. */
const alignment = 64

/** What so many bytes take up; nothing has a place of its own, too. */
const aligned = (bytes: Bytes): Bytes => Math.max(1, Math.ceil(bytes / alignment)) * alignment

/** Offsets in a region that grows at its end. */
export interface FreeList {
  /** Where so many bytes are free; they are not any more. */
  take(bytes: Bytes): number
  /** Give back what was taken, with the same size. */
  give(offset: number, bytes: Bytes): void
  /** The region's extent: the largest end of anything taken so far. */
  readonly top: number
}

export function createFreeList(start = 0): FreeList {
  /** Free spans by offset, never touching each other. */
  const spans: Span[] = []
  let top = start
  const grow = (bytes: Bytes): number => {
    const last = spans.at(-1)
    const reuse = last !== undefined && last.offset + last.bytes === top
    if (reuse) spans.pop()
    const offset = reuse ? last.offset : top
    top = offset + bytes
    return offset
  }
  return {
    get top() {
      return top
    },
    take(wanted) {
      const bytes = aligned(wanted)
      const index = spans.findIndex((span) => span.bytes >= bytes)
      const span = spans[index]
      if (span === undefined) return grow(bytes)
      const { offset } = span
      if (span.bytes === bytes) spans.splice(index, 1)
      else spans[index] = { offset: offset + bytes, bytes: span.bytes - bytes }
      return offset
    },
    give(offset, wanted) {
      const bytes = aligned(wanted)
      const found = spans.findIndex((span) => span.offset > offset)
      const index = found < 0 ? spans.length : found
      if (endOf(spans[index - 1]) > offset)
        throw new InvariantError(`bytes at ${offset} were given back twice`)
      spans.splice(index, 0, { offset, bytes })
      join(spans, index)
      join(spans, index - 1)
    },
  }
}

interface Span {
  readonly offset: number
  bytes: Bytes
}

const endOf = (span: Span | undefined): number => (span === undefined ? 0 : span.offset + span.bytes)

/** Make a span and the one after it one, where they touch. */
function join(spans: Span[], index: number): void {
  const [span, next] = [spans[index], spans[index + 1]]
  if (!span || next?.offset !== endOf(span)) return
  span.bytes += next.bytes
  spans.splice(index + 1, 1)
}
