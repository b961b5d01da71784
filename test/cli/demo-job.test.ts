import { describe, expect, it } from 'vitest'
import { InvalidInputError } from '../../shared/errors.ts'
import { demoShape, poolJob, plainJob, readDemoModel, singleJob } from '../../main/cli/demo/demo-job.ts'

const model = await readDemoModel('digits-cnn')
const job = poolJob(model, { model: 'digits-cnn', peers: 5, clusters: 2, updates: 200, seed: 7 })
const samplesAnUpdate = (of: typeof job, clusters: number, accumulate: number): number =>
  of.recipe.schedule.microBatch * accumulate * clusters

describe('the jobs of a demo', () => {
  it('spread the peers evenly over the clusters', () => {
    expect(demoShape(5, 2)).toEqual([2, 3])
    expect(demoShape(7, 3)).toEqual([2, 2, 3])
    expect(demoShape(3, 1)).toEqual([3])
    expect(() => demoShape(1, 2)).toThrow(InvalidInputError)
  })

  it('give one PC the seed, the updates and the samples an update of the whole pool', () => {
    const single = singleJob(job, { clusters: 2, accumulate: 6 })
    expect(single.seed).toBe(7)
    expect(single.target).toEqual(job.target)
    expect(single.recipe.learningRate).toEqual(job.recipe.learningRate)
    expect(samplesAnUpdate(single, 1, single.recipe.schedule.accumulate ?? 0)).toBe(
      samplesAnUpdate(job, 2, 6),
    )
  })

  it('train without repair of staleness on the same samples in all', () => {
    const plain = plainJob(job, { accumulate: 6 })
    expect(plain.recipe.staleness).toBe('none')
    expect(plain.target.updates * samplesAnUpdate(plain, 2, 1)).toBe(200 * samplesAnUpdate(job, 2, 6))
    expect(plain.recipe.learningRate).toMatchObject({ type: 'cosine', totalUpdates: 1200 })
  })

  it('take a graph file by what it eats', async () => {
    await expect(readDemoModel('/nowhere/graph.json')).rejects.toThrow(InvalidInputError)
    await expect(readDemoModel('resnet')).rejects.toThrow('no sample data for "resnet"')
  })
})
