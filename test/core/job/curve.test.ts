import { describe, expect, it } from 'vitest'
import { Curve } from '../../../main/core/job/curve.ts'

describe('a curve', () => {
  it('keeps every point while there is room', () => {
    const curve = new Curve<number>()
    for (let point = 0; point < 512; point++) curve.add(point)
    expect(curve.points).toEqual(Array.from({ length: 512 }, (_, point) => point))
  })

  it('never holds more than 512 points, in order, and always the newest', () => {
    const curve = new Curve<number>()
    for (let point = 0; point < 100_000; point++) {
      curve.add(point)
      expect(curve.points.length).toBeLessThanOrEqual(512)
      expect(curve.points.at(-1)).toBe(point)
    }
    expect([...curve.points]).toEqual([...curve.points].sort((a, b) => a - b))
    expect(curve.points.length).toBeGreaterThan(200)
  })
})
