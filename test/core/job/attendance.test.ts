import { describe, expect, it } from 'vitest'
import { Attendance } from '../../../main/core/job/host/attendance.ts'
import { Roll, type Wish } from '../../../main/core/job/host/roll.ts'
import type { MemberView } from '../../../shared/messages/control.ts'
import { minute } from '../../../shared/units.ts'

/** A PC through so many minutes in each of these states. */
function stayOf(...parts: readonly [MemberView['state'], Wish, number][]) {
  const roll = new Roll()
  const device = { displayName: 'pc', backend: 'kernels', memoryBytes: 1, flopsPerSecond: 1 }
  roll.enroll('pc', device, [])
  const attendance = new Attendance()
  for (const [state, wish, minutes] of parts) {
    Object.assign(roll.get('pc')!, { state, wish })
    attendance.add(roll.all, minutes * minute)
  }
  return attendance.shares()
}

describe('how much a PC was there', () => {
  it('is the time in which it trained or could, of all since it came', () => {
    expect(stayOf(['training', 'train', 12], ['lost', 'train', 4], ['idle', 'train', 4])).toEqual([
      { peer: 'pc', share: 0.8 },
    ])
  })

  it('is less where it paused, whoever wanted that', () => {
    expect(stayOf(['training', 'train', 5], ['paused', 'pause', 15])).toEqual([{ peer: 'pc', share: 0.25 }])
    // Its cluster waits for another that pauses: it is there.
    expect(stayOf(['paused', 'train', 20])).toEqual([{ peer: 'pc', share: 1 }])
  })

  it('ends with its goodbye, and is not told of a short time', () => {
    expect(stayOf(['training', 'train', 15], ['lost', 'leave', 100])).toEqual([{ peer: 'pc', share: 1 }])
    expect(stayOf(['training', 'train', 4], ['lost', 'train', 5])).toEqual([])
  })
})
