/** Curves in text: a line of eighth blocks, and a chart of braille dots, four rows and two columns of dots a letter. */

export interface CurvePoint {
  readonly x: number
  readonly y: number
}

const blocks = '▁▂▃▄▅▆▇█'

/** The mean of the points in each of `buckets` equal parts of the x axis; undefined where a part has none. */
function bucketMeans(points: readonly CurvePoint[], buckets: number): (number | undefined)[] {
  const xs = points.map(({ x }) => x)
  const first = Math.min(...xs)
  const span = Math.max(...xs) - first
  const sums = new Array<number>(buckets).fill(0)
  const counts = new Array<number>(buckets).fill(0)
  for (const { x, y } of points) {
    const place = span === 0 ? 0 : Math.min(buckets - 1, Math.floor(((x - first) / span) * buckets))
    sums[place] = (sums[place] ?? 0) + y
    counts[place] = (counts[place] ?? 0) + 1
  }
  return sums.map((sum, place) => ((counts[place] ?? 0) === 0 ? undefined : sum / (counts[place] ?? 1)))
}

/** Fill every part by a straight line between its neighbours that have a value. */
function fillGaps(values: readonly (number | undefined)[]): number[] {
  const known = values.flatMap((value, place) => (value === undefined ? [] : [{ x: place, y: value }]))
  return values.map((value, place) => {
    if (value !== undefined) return value
    const before = known.findLast(({ x }) => x < place)
    const after = known.find(({ x }) => x > place)
    if (before === undefined || after === undefined) return (before ?? after)?.y ?? 0
    return before.y + ((after.y - before.y) * (place - before.x)) / (after.x - before.x)
  })
}

const finite = (points: readonly CurvePoint[]): CurvePoint[] =>
  points.filter(({ x, y }) => Number.isFinite(x) && Number.isFinite(y))

/** Where a value stands among `levels` from the lowest 0 to the highest; the lowest when all are equal. */
function levelOf(value: number, range: { low: number; high: number }, levels: number): number {
  if (range.high === range.low) return 0
  return Math.round(((value - range.low) / (range.high - range.low)) * (levels - 1))
}

function rangeOf(values: readonly number[]): { low: number; high: number } {
  return { low: Math.min(...values), high: Math.max(...values) }
}

/** One line of blocks. Points that are not finite are left out; no points make an empty text. */
export function sparkline(points: readonly CurvePoint[], width: number): string {
  const usable = finite(points)
  if (usable.length === 0) return ''
  const values = fillGaps(bucketMeans(usable, Math.min(width, usable.length)))
  const range = rangeOf(values)
  return values.map((value) => blocks[levelOf(value, range, blocks.length)] ?? '').join('')
}

/** Bit of the dot in column 0 or 1, from the top row down. @see Unicode 16, block Braille Patterns */
const dotBits = [
  [0x01, 0x02, 0x04, 0x40],
  [0x08, 0x10, 0x20, 0x80],
] as const
const blankBraille = 0x2800

/** What a chart shows, and the values of its edges. */
export interface Chart {
  /** `height` rows of `width` letters, the top row first. */
  readonly rows: readonly string[]
  readonly top: number
  readonly bottom: number
}

/** A connected curve, scaled to its own lowest and highest mean. Undefined where there is nothing to draw. */
export function lineChart(
  points: readonly CurvePoint[],
  size: { readonly width: number; readonly height: number },
): Chart | undefined {
  const usable = finite(points)
  if (usable.length === 0) return undefined
  const columns = size.width * 2
  const dotRows = size.height * 4
  const values = fillGaps(bucketMeans(usable, columns))
  const range = rangeOf(values)
  const levels = values.map((value) => dotRows - 1 - levelOf(value, range, dotRows))
  const cells = Array.from({ length: size.height }, () => new Array<number>(size.width).fill(0))
  levels.forEach((level, column) => {
    const previous = levels[column - 1] ?? level
    // Join to the column before, so that a steep fall is a line and not two dots.
    const from = level > previous ? previous + 1 : level
    const to = level < previous ? previous - 1 : level
    for (let dot = from; dot <= to; dot += 1) {
      const row = cells[dot >> 2]
      const bit = dotBits[column % 2 === 0 ? 0 : 1][dot & 3] ?? 0
      if (row !== undefined) row[column >> 1] = (row[column >> 1] ?? 0) | bit
    }
  })
  return {
    rows: cells.map((row) => String.fromCodePoint(...row.map((bits) => blankBraille + bits))),
    top: range.high,
    bottom: range.low,
  }
}
