import { describe, expect, it } from 'vitest'
import { RefusedError } from '../../shared/errors.ts'
import { smallJob, startScenario } from './pool.ts'

/** Nobody can hold the model alone; two large or three small peers can. */
const twoAndThree = [49_500, 49_500, 36_500, 36_500, 36_500]

describe('a job of five peers in two clusters', () => {
  it('ends with a model that every cluster trained to the last update', async () => {
    const scenario = await startScenario({ memories: twoAndThree, clusters: 2 })
    const result = await scenario.end(scenario.host)
    const { plan, members, validationCurve } = scenario.host.participation.view()
    expect(result).toMatchObject({ outcome: 'finished', model: '/models/scenario', updates: 24 })
    // A = 6 micro-batches of 8, each cluster: short micro-batches at the end of an epoch hold fewer samples.
    expect(result.samples).toBeLessThanOrEqual(2 * 24 * 6 * 8)
    expect(result.samples).toBeGreaterThan(2 * 24 * 6 * 7)
    expect(plan?.layout.clusters.map(({ stages }) => stages.length).sort()).toEqual([2, 3])
    expect(members.map(({ updates, state }) => [updates, state])).toEqual(members.map(() => [24, 'finished']))
    expect(validationCurve.length).toBeGreaterThanOrEqual(2)
    expect(result.validation?.accuracy).toBeGreaterThan(0.5)
    expect(scenario.warnings).toEqual([])
    for (const member of scenario.members) expect((await scenario.end(member)).outcome).toBe('finished')
  })

  it('goes the same way bit for bit when chance is the same', async () => {
    const run = async () => {
      const scenario = await startScenario({
        memories: twoAndThree,
        clusters: 2,
        spec: smallJob({ updates: 8 }),
      })
      await scenario.end(scenario.host)
      return scenario.savedModels[0]!.state
    }
    expect(await run()).toEqual(await run())
  })

  it('goes on from a finished model', async () => {
    const first = await startScenario({ memories: [130_000], spec: smallJob({ updates: 8 }) })
    const before = await first.end(first.host)
    const again = await startScenario({
      memories: twoAndThree,
      clusters: 2,
      spec: smallJob({ updates: 1 }),
      continueFrom: first.savedModels[0]!,
    })
    const after = await again.end(again.host)
    expect(Math.abs(after.validation!.loss - before.validation!.loss)).toBeLessThan(0.2)
    expect(after.validation!.loss).toBeLessThan(1.2)
  })

  it('ends early when the host says so, and keeps what was learned', async () => {
    const scenario = await startScenario({
      memories: twoAndThree,
      clusters: 2,
      spec: smallJob({ updates: 10_000 }),
    })
    await scenario.until(({ updates }) => updates >= 10)
    scenario.host.participation.finish()
    const result = await scenario.end(scenario.host)
    expect(result).toMatchObject({ outcome: 'stopped', model: '/models/scenario' })
    expect(result.updates).toBeGreaterThanOrEqual(10)
    expect(result.updates).toBeLessThan(40)
  })

  it('stops at once, without a model, when the host leaves it', async () => {
    const scenario = await startScenario({
      memories: twoAndThree,
      clusters: 2,
      spec: smallJob({ updates: 10_000 }),
    })
    await scenario.until(({ updates }) => updates >= 2)
    scenario.host.participation.leave()
    expect(await scenario.end(scenario.host)).toMatchObject({ outcome: 'stopped', model: null })
    for (const member of scenario.members) expect((await scenario.end(member)).outcome).toBe('stopped')
  })

  it('takes nobody more when it is about to end', async () => {
    const scenario = await startScenario({ memories: twoAndThree, clusters: 2 })
    await scenario.until(({ updates }) => updates >= 4)
    scenario.host.participation.finish()
    await expect(scenario.join('late', 14_000)).rejects.toThrow(RefusedError)
    expect((await scenario.end(scenario.host)).outcome).toBe('stopped')
  })

  it('says how much memory is missing when the model does not fit', async () => {
    const scenario = await startScenario({ memories: [8_000, 8_000] })
    const result = await scenario.end(scenario.host)
    expect(result).toMatchObject({ outcome: 'failed', model: null })
    expect(result.reason).toMatch(/memory|bytes|MiB|KiB/i)
  })
})
