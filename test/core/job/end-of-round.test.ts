import { describe, expect, it } from 'vitest'
import { EndOfRound } from '../../../main/core/job/member/end-of-round.ts'
import type { Plan } from '../../../shared/plan/plan.ts'

type Layers = [number, number]
const stage = (peer: string, layers: Layers) => ({ peer, layers, memoryBytes: 1, busySeconds: 1 })

/** Us with both layers; others with one each: two rings of ours. */
function plan(active: number[]): Plan {
  const clusters = [{ stages: [stage('us', [0, 2])] }, { stages: [stage('a', [0, 1]), stage('b', [1, 2])] }]
  return { number: 1, active, layout: { clusters } } as unknown as Plan
}

describe('the end of a round', () => {
  it('comes when every ring of the stage is through, averaged or given up', () => {
    const end = new EndOfRound('us')
    expect(end.ringOver(0)).toBe(false)
    end.await(plan([0, 1]), 3)
    expect([end.updated(100, 4), end.ringOver(1), end.ringOver(1), end.ringOver(0)]).toEqual([
      ...[false, false, false],
      true,
    ])
  })

  it('is every H-th update where nobody averages with us', () => {
    const end = new EndOfRound('us')
    end.await(plan([0]), 8)
    expect([8, 9, 11, 12, 13].map((updates) => end.updated(updates, 4))).toEqual([
      ...[false, false, false],
      ...[true, true],
    ])
  })

  it('is that of the plan in force', () => {
    const end = new EndOfRound('us')
    expect(end.updated(4, 4)).toBe(false)
    end.await(plan([0, 1]), 1)
    end.await(plan([0]), 2)
    expect([end.updated(3, 4), end.updated(4, 4)]).toEqual([false, true])
    end.forget()
    expect(end.updated(8, 4)).toBe(false)
  })
})
