/** Measuring layers, with an engine whose passes take as long as a script says. */
import { describe, expect, it } from 'vitest'
import { measureSpeed } from '../../../main/core/job/benchmark.ts'
import { measureLayers } from '../../../main/core/job/layer-speed.ts'
import { profileOf, withFlops } from '../../../main/core/model/profile.ts'
import type { Clock, StageEngine } from '../../../main/core/ports.ts'
import { InvariantError } from '../../../shared/errors.ts'
import { recipe } from '../../../shared/job/recipe.ts'
import { type LayerRange, modelGraph } from '../../../shared/model/graph.ts'
import { floatTensor } from '../../../shared/tensor.ts'

const graph = modelGraph.parse({
  ...{ format: 'rookery-model/1', name: 'four', task: 'classify', loss: { type: 'cross-entropy' } },
  input: { type: 'values', shape: [6] },
  layers: [
    { type: 'dense', name: 'first', units: 6 },
    { type: 'dense', name: 'second', units: 6 },
    { type: 'dense', name: 'third', units: 6 },
    { type: 'dense', name: 'last', units: 3 },
  ],
})
const job = recipe.parse({ schedule: { microBatch: 4, accumulate: 2 } })

const never = () => false

/** Forward takes `forwardMs` of each layer, backward twice that, an update `updateMs`; a call costs a millisecond more. */
function scripted(
  forwardMs: readonly number[],
  {
    updateMs = 0,
    callMs = 0,
    backend = 'scripted',
    isSlow = never,
  }: { updateMs?: number; callMs?: number; backend?: string; isSlow?: (nowMs: number) => boolean } = {},
) {
  let time = 0
  const slowness = () => (isSlow(time) ? 2 : 1)
  let layers: LayerRange = [0, 0]
  let samples = 0
  let isBenchmark = false
  const loads: LayerRange[] = []
  const clock: Clock = { now: () => time, sleep: () => Promise.resolve() }
  const unneeded = () => Promise.reject(new InvariantError('measuring layers does not need this'))
  const work = () => forwardMs.slice(...layers).reduce((sum, each) => sum + each, 0)
  const take = (ms: number) => {
    time += (ms + callMs) * slowness()
  }
  const engine: StageEngine = {
    backend,
    load: (setup) => {
      layers = setup.layers
      isBenchmark = setup.graph.name === 'benchmark'
      if (!isBenchmark) loads.push(layers)
      return Promise.resolve()
    },
    writeState: () => Promise.resolve(),
    forward: ({ input }) => {
      samples = input.shape[0] ?? 0
      take(work())
      return Promise.resolve(floatTensor(new Float32Array(samples * 6), [samples, 6]))
    },
    backward: () => {
      take(2 * work())
      return Promise.resolve(undefined)
    },
    forwardLoss: () => {
      if (isBenchmark) time += stepMs * slowness()
      else take(3 * work())
      return Promise.resolve({
        tally: { lossSum: 1, labels: 4, correct: 0, correctTop5: 0 },
        inputGradient: undefined,
      })
    },
    update: () => {
      if (!isBenchmark) take(updateMs)
      return Promise.resolve({ applied: true, gradientNorm: 1 })
    },
    unload: () => {
      layers = [0, 0]
      return Promise.resolve()
    },
    ...{ discard: unneeded, infer: unneeded, judge: unneeded, readState: unneeded, addToState: unneeded },
    ...{ readOptimizer: unneeded, writeOptimizer: unneeded, memory: unneeded },
  }
  return { engine, clock, loads, held: () => layers }
}

const request = { graph, recipe: job, memoryBytes: 1e9, callSeconds: 0 }
/** A step of the benchmark takes so long, loss and update together. */
const stepMs = 20
const speed = await measureSpeed(scripted([1]))
/** F · seconds a sample; a step of 3 forwards counts as three times the FLOPs. */
const flopsOf = (forwardMs: number) => (forwardMs / 1000 / 4) * speed

describe('the layers of a model', () => {
  it('count as many FLOPs as the engine’s benchmark does in the time that they take', async () => {
    const script = scripted([1, 2, 2, 4])
    const flops = await measureLayers({ ...request, ...script })
    expect(flops.map((each) => Math.round(each))).toEqual([1, 2, 2, 4].map((ms) => Math.round(flopsOf(ms))))
    expect(script.held()).toEqual([0, 0])
    const { layers } = withFlops(profileOf(graph, job), flops)
    expect(layers.map(({ flopsPerSample }) => flopsPerSample)).toEqual(flops)
  })

  it('are held against the benchmark of the same moment: a PC that is slow for a while tells the same of the model', async () => {
    const sumOf = async (isSlow: (nowMs: number) => boolean) => {
      const flops = await measureLayers({ ...request, ...scripted([1, 2, 2, 4], { isSlow }) })
      return flops.reduce((sum, each) => sum + each, 0)
    }
    const usual = await sumOf(never)
    for (const isSlow of [() => true, (nowMs: number) => nowMs < 1000, (nowMs: number) => nowMs > 1000])
      expect(await sumOf(isSlow)).toBeCloseTo(usual, 6)
  })

  it('of one kind and size are measured once, and then the whole as far as memory reaches', async () => {
    const script = scripted([1, 2, 2, 4])
    await measureLayers({ ...request, ...script })
    expect(script.loads).toEqual([[0, 1], [1, 2], [3, 4], [0, 4], [0, 4], [0, 4]]) // prettier-ignore
    const small = scripted([1, 2, 2, 4])
    await measureLayers({ ...request, ...small, memoryBytes: 1 })
    expect(small.loads.slice(3, 7)).toEqual([[0, 1], [1, 2], [2, 3], [3, 4]]) // prettier-ignore
  })

  it('have their part of an update, and not what the calls cost, which the plan counts a stage', async () => {
    const script = scripted([1, 1, 1, 1], { callMs: 3, updateMs: 6 })
    const flops = await measureLayers({ ...request, ...script, callSeconds: 0.003 })
    // Of the whole: 12 ms and half an update.
    const sum = flops.reduce((total, each) => total + each, 0)
    expect(sum).toBeCloseTo(flopsOf((12 + 6 / 2) / 3), 6)
  })

  it('are some work where a call’s cost hides what they take', async () => {
    const script = scripted([0, 0, 0, 0], { callMs: 3 })
    const flops = await measureLayers({ ...request, ...script, callSeconds: 0.004 })
    // A twentieth of one call for the leaf's pass and half of an update's.
    const sum = flops.reduce((total, each) => total + each, 0)
    expect(sum).toBeCloseTo(flopsOf((0.05 * (3 + 3 / 2)) / 3), 6)
  })

  it('of an engine that recomputes count as four forwards, the last one as three', async () => {
    const apart = { memoryBytes: 1, ...scripted([1, 2, 2, 4], { backend: 'tfjs-cpu' }) }
    const flops = await measureLayers({ ...request, ...apart })
    const expected = [3 / 4, 6 / 4, 6 / 4, 4].map((forwards) => Math.round(flopsOf(forwards)))
    expect(flops.map((each) => Math.round(each))).toEqual(expected)
  })
})
