/** A QR code as one SVG path: a run of dark modules in a row is one rectangle. */
export function qrPath(size: number, isDark: (row: number, column: number) => boolean): string {
  const parts: string[] = []
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      if (!isDark(row, column)) continue
      const from = column
      while (column + 1 < size && isDark(row, column + 1)) column++
      parts.push(`M${from} ${row}h${column + 1 - from}v1h-${column + 1 - from}z`)
    }
  }
  return parts.join('')
}
