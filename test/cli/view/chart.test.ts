import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lineChart, sparkline } from '../../../main/cli/view/chart.ts'

const curve = (ys: readonly number[]) => ys.map((y, x) => ({ x, y }))

describe('a sparkline', () => {
  it('spans the lowest to the highest value', () => {
    expect(sparkline(curve([7, 6, 5, 4, 3, 2, 1, 0]), 8)).toBe('█▇▆▅▄▃▂▁')
  })

  it('takes means where there are more points than letters', () => {
    expect(sparkline(curve([10, 10, 3, 3, 3, 3, 10, 10]), 4)).toBe('█▁▁█')
  })

  it('leaves out what is not finite, and is empty without points', () => {
    expect(sparkline(curve([1, Number.NaN, 0]), 8)).toBe('█▁')
    expect(sparkline([], 8)).toBe('')
    expect(sparkline(curve([Number.POSITIVE_INFINITY]), 8)).toBe('')
  })

  it('is flat for equal values', () => {
    expect(sparkline(curve([5, 5, 5]), 3)).toBe('▁▁▁')
  })
})

describe('a line chart', () => {
  it('draws a falling line as connected dots of two columns and four rows a letter', () => {
    // Dot columns 0..3 at levels 0, 1, 2, 3 from the top: dots 1 and 5 of the first letter, 3 and 8 of the second.
    expect(lineChart(curve([3, 2, 1, 0]), { width: 2, height: 1 })).toEqual({
      rows: ['\u2811\u2884'],
      top: 3,
      bottom: 0,
    })
  })

  it('joins a steep fall by the dots between', () => {
    // Level 0, then 1 to 7 down to the lowest: dot 1; 5, 6, 8 above and 4, 5, 6, 8 below.
    expect(lineChart(curve([7, 0]), { width: 1, height: 2 })?.rows).toEqual(['\u28b1', '\u28b8'])
  })

  it('draws nothing without a finite point', () => {
    expect(lineChart(curve([Number.NaN]), { width: 4, height: 2 })).toBeUndefined()
  })

  it('has exactly its size, for any curve', () => {
    const point = fc.record({ x: fc.double(), y: fc.double({ noNaN: false }) })
    const size = fc.record({ width: fc.integer({ min: 1, max: 90 }), height: fc.integer({ min: 1, max: 9 }) })
    fc.assert(
      fc.property(fc.array(point), size, (points, wanted) => {
        const chart = lineChart(points, wanted)
        if (chart === undefined) return
        expect(chart.rows).toHaveLength(wanted.height)
        expect(chart.rows.every((row) => /^[\u2800-\u28ff]*$/.test(row) && row.length === wanted.width)).toBe(
          true,
        )
      }),
    )
  })
})
