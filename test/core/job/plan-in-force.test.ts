import { describe, expect, it } from 'vitest'
import { activePeers, planInForce, positionOf, withActive } from '../../../main/core/job/plan-in-force.ts'
import { recipe } from '../../../shared/job/recipe.ts'
import type { Layout } from '../../../shared/plan/plan.ts'

const stage = (peer: string, from: number, to: number) => ({
  peer,
  layers: [from, to] as [number, number],
  memoryBytes: 1,
  secondsPerMicroBatch: 1,
})
const layout: Layout = {
  clusters: [
    { stages: [stage('a', 0, 2), stage('b', 2, 6)], samplesPerSecond: 1 },
    { stages: [stage('c', 0, 1), stage('d', 1, 3), stage('e', 3, 6)], samplesPerSecond: 1 },
  ],
  rings: [],
  unused: [],
  samplesPerSecond: 2,
  averagingSeconds: 0,
}

describe('a plan in force', () => {
  it('gathers twice the stages of the longest cluster and keeps one micro-batch more than stages in flight', () => {
    expect(planInForce(layout, recipe.parse({}), 1)).toEqual({
      number: 1,
      layout,
      accumulate: 6,
      inFlight: [3, 4],
      active: [0, 1],
    })
  })

  it('takes what the recipe says, but never more in flight than two rounds of averaging lie apart', () => {
    const plain = recipe.parse({ schedule: { accumulate: 1, inFlight: 9 }, sync: { averageEveryUpdates: 5 } })
    expect(planInForce(layout, plain, 1)).toMatchObject({ accumulate: 1, inFlight: [5, 5] })
  })

  it('changes its number and its active clusters only', () => {
    const plan = planInForce(layout, recipe.parse({}), 7)
    expect(withActive(plan, [1])).toEqual({ ...plan, number: 8, active: [1] })
    expect(activePeers(withActive(plan, [1]))).toEqual(['c', 'd', 'e'])
    expect(positionOf(plan, 'd')).toEqual({ cluster: 1, stage: 1 })
    expect(positionOf(plan, 'x')).toBeUndefined()
  })
})
