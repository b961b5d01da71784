/** Plans in a thread of their own are the plans that the planner makes. */
import { describe, expect, it } from 'vitest'
import { inPlanningThread } from '../../main/agent/planning/thread.ts'
import { forecastRow } from '../../main/core/job/host-forecast.ts'
import { layoutOfJob } from '../../main/core/job/job-layout.ts'
import { AbortedError, InvalidInputError } from '../../shared/errors.ts'
import { recipe } from '../../shared/job/recipe.ts'
import { plainGraph } from '../core/pipeline/pool.ts'

const peer = (id: string) => ({
  ...{ id, memoryBytes: 100_000, flopsPerSecond: 1e6 },
  ...{ uploadBytesPerSecond: 1e6, downloadBytesPerSecond: 1e6 },
})
const request = {
  pool: { peers: ['a', 'b', 'c'].map(peer), links: [], defaultLatencySeconds: 0.01 },
  ...{ graph: plainGraph, recipe: recipe.parse({}), seed: 3, clusters: undefined },
}

describe('the planning thread', () => {
  it('gives the same plan and the same forecast as the planner itself', async () => {
    expect(await inPlanningThread('plan', request)).toEqual(layoutOfJob(request))
    const pc = {
      ...{ memoryBytes: 100_000, flopsPerSecond: 1e9 },
      ...{ uploadBytesPerSecond: 0, downloadBytesPerSecond: 0 },
    }
    const asked = {
      graph: plainGraph,
      recipe: recipe.parse({}),
      updates: 10,
      seed: 1,
      clusters: undefined,
      pc,
      spread: [0.95, 1.3] as const,
    }
    expect(await inPlanningThread('forecast', { request: asked, peers: [1, 3] })).toEqual(
      [1, 3].map((peers) => forecastRow(asked, peers)),
    )
  })

  it('plans from the clusters in force, and leaves them as they are where they are good enough', async () => {
    const best = layoutOfJob(request)
    if ('feasible' in best) throw new InvalidInputError(best.reason)
    const previous = best.clusters.map(({ stages }) => stages)
    const slower = request.pool.peers.map((one) => ({ ...one, flopsPerSecond: 0.97e6 }))
    const changed = { ...request, pool: { ...request.pool, peers: slower }, previous }
    const found = await inPlanningThread('plan', changed)
    expect(found).toEqual(layoutOfJob(changed))
    const holders = (clusters: typeof best.clusters) =>
      clusters.map(({ stages }) => stages.map(({ peer: holder, layers }) => [holder, layers]))
    expect('feasible' in found ? found : holders(found.clusters)).toEqual(holders(best.clusters))
  })

  it('says what is wrong with a pool, and stops when told', async () => {
    const twice = { ...request, pool: { ...request.pool, peers: [peer('a'), peer('a')] } }
    await expect(inPlanningThread('plan', twice)).rejects.toThrow(InvalidInputError)
    const stop = new AbortController()
    const planning = inPlanningThread('plan', request, stop.signal)
    stop.abort()
    await expect(planning).rejects.toThrow(AbortedError)
    await expect(inPlanningThread('plan', request, stop.signal)).rejects.toThrow(AbortedError)
  })
})
