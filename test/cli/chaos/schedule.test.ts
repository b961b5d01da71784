import { describe, expect, it } from 'vitest'
import { drawFaults, faultKinds, type Drawing, type Fault } from '../../../main/cli/chaos/schedule.ts'
import { minute, second } from '../../../shared/units.ts'

const tenMinutes: Drawing = {
  ...{ seed: 7, durationMs: 10 * minute, peers: 6, depth: 3 },
  kinds: faultKinds,
}

/** Who is in the pool and untouched just before each fault, by what the faults themselves say. */
function wellBefore(faults: readonly Fault[], { atMs }: Fault, peers: number): string[] {
  const earlier = faults.filter((fault) => fault.atMs < atMs)
  const newcomers = earlier.filter(({ kind }) => kind === 'join').map(({ peer }) => peer)
  const names = [...Array.from({ length: peers }, (_, index) => `peer-${index + 1}`), ...newcomers]
  const over = ({ kind, atMs: began, lastsMs }: Fault) => kind !== 'leave' && began + lastsMs <= atMs
  return names.filter((name) => earlier.every((fault) => fault.peer !== name || over(fault)))
}

describe('the faults of a seed', () => {
  it('are the same again, and others for another seed', () => {
    expect(drawFaults(tenMinutes)).toEqual(drawFaults(tenMinutes))
    expect(drawFaults({ ...tenMinutes, seed: 8 })).not.toEqual(drawFaults(tenMinutes))
  })

  it('are thirty and more in ten minutes, every kind among them', () => {
    for (let seed = 0; seed < 50; seed++) {
      const faults = drawFaults({ ...tenMinutes, seed })
      expect(faults.length).toBeGreaterThanOrEqual(30)
      expect(new Set(faults.map(({ kind }) => kind))).toEqual(new Set(faultKinds))
    }
  })

  it('hit only who is there and well, and leave enough of them to hold the model', () => {
    for (let seed = 0; seed < 50; seed++) {
      const faults = drawFaults({ ...tenMinutes, seed })
      for (const fault of faults) {
        const well = wellBefore(faults, fault, 6)
        if (fault.kind === 'join') expect(well).not.toContain(fault.peer)
        else {
          expect(well).toContain(fault.peer)
          expect(well.length - 1).toBeGreaterThanOrEqual(3)
        }
      }
      expect(faults.some(({ kind, peer }) => kind === 'leave' && peer === 'peer-1')).toBe(false)
    }
  })

  it('are of the kinds that the ground can make', () => {
    const faults = drawFaults({ ...tenMinutes, kinds: ['kill', 'pause'] })
    expect(new Set(faults.map(({ kind }) => kind))).toEqual(new Set(['kill', 'pause']))
  })

  it('are exactly those asked for, in their order, spread over the time', () => {
    const sequence = ['join', 'kill', 'leave'] as const
    const faults = drawFaults({ ...tenMinutes, durationMs: 40 * second, peers: 2, depth: 2, sequence })
    expect(faults.map(({ kind, atMs }) => [kind, atMs])).toEqual([
      ['join', 10 * second],
      ['kill', 20 * second],
      ['leave', 30 * second],
    ])
    expect(faults[0]!.peer).toBe('peer-3')
  })
})
