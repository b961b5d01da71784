/** Measuring an engine's speed, with an engine whose every step takes as long as a script says. */
import { describe, expect, it } from 'vitest'
import { InvalidInputError, InvariantError } from '../../../shared/errors.ts'
import { type ModelGraph, modelGraph } from '../../../shared/model/graph.ts'
import { layoutOfGraph, stateLayout } from '../../../shared/model/layout.ts'
import { measureSpeed } from '../../../main/core/job/benchmark.ts'
import type { Clock, ForwardRequest, StageEngine, StageSetup, StateVector } from '../../../main/core/ports.ts'
import type { HostTensor } from '../../../shared/tensor.ts'

/** An engine on a virtual clock: step n of B samples takes `stepMs(n, B)`, a third of it in `update`. It computes nothing. */
function scripted(
  stepMs: (step: number, samples: number) => number,
  faults: { loss?: number; applied?: boolean } = {},
) {
  let time = 1000
  const clock: Clock = { now: () => time, sleep: () => Promise.resolve() }
  const seen = {
    setup: undefined as StageSetup | undefined,
    state: undefined as StateVector | undefined,
    steps: [] as (ForwardRequest & { labels: HostTensor })[],
    updates: 0,
    unloaded: 0,
  }
  const never = () => Promise.reject(new InvariantError('a benchmark does not need this'))
  const engine: StageEngine = {
    backend: 'scripted',
    load: (setup) => {
      seen.setup = setup
      return Promise.resolve()
    },
    writeState: (state) => {
      seen.state = state
      return Promise.resolve()
    },
    forwardLoss: (request) => {
      time += (stepMs(seen.steps.length, request.input.shape[0]!) * 2) / 3
      seen.steps.push(request)
      const tally = { lossSum: faults.loss ?? 2.3, labels: 8, correct: 1, correctTop5: 4 }
      return Promise.resolve({ tally, inputGradient: undefined })
    },
    update: () => {
      time += stepMs(seen.updates, seen.steps[seen.updates++]!.input.shape[0]!) / 3
      return Promise.resolve({ applied: faults.applied ?? true, gradientNorm: 1 })
    },
    unload: () => {
      seen.unloaded++
      return Promise.resolve()
    },
    forward: never,
    backward: never,
    discard: never,
    infer: never,
    judge: never,
    readState: never,
    addToState: never,
    readOptimizer: never,
    writeOptimizer: never,
    memory: never,
  }
  return { engine, clock, seen, elapsedMs: () => time - 1000 }
}

/** [4] → [3] → [2]: 2·(4·3 + 3·2) = 36 FLOPs a sample and forward; 8 samples and two more forwards' worth back. */
const flopsOfTinyStep = 8 * 36 * 3
const tiny: ModelGraph = modelGraph.parse({
  format: 'rookery-model/1',
  name: 'tiny',
  task: 'classify',
  input: { type: 'values', shape: [4] },
  layers: [
    { type: 'dense', name: 'first', units: 3, bias: false },
    { type: 'dense', name: 'second', units: 2, bias: false },
  ],
  loss: { type: 'cross-entropy' },
})

describe('the speed of an engine', () => {
  it('is the FLOPs of a training step over the median time of a step', async () => {
    // Warm-up is slow; of the measured steps every fifth meets a busy PC.
    const bench = scripted((step) => (step < 3 ? 60 : step % 5 === 0 ? 48 : 24))
    const speed = await measureSpeed({ engine: bench.engine, clock: bench.clock, graph: tiny })
    expect(speed).toBeCloseTo(flopsOfTinyStep / 0.024, 5)
  })

  it('counts the built-in model as the planner would: 69 MFLOP a step', async () => {
    const bench = scripted(() => 10)
    const forward = 2 * (256 * 72 * 32 + 64 * 288 * 32 + 2048 * 128 + 128 * 10)
    const speed = await measureSpeed({ engine: bench.engine, clock: bench.clock })
    // Biases and activations may add a little to the multiply-adds.
    expect(speed / ((8 * forward * 3) / 0.01)).toBeGreaterThanOrEqual(1)
    expect(speed / ((8 * forward * 3) / 0.01)).toBeLessThan(1.05)
  })

  it('is measured on whole steps of the whole model, at weights that are not zero, and unloaded', async () => {
    const { engine, clock, seen } = scripted(() => 10)
    await measureSpeed({ engine, clock, graph: tiny })
    expect(seen.setup).toMatchObject({ graph: tiny, layers: [0, 2], memoryBudgetBytes: 0 })
    expect(seen.state?.layers).toEqual([0, 2])
    expect(seen.state?.values).toHaveLength(stateLayout(layoutOfGraph(tiny), [0, 2]).length)
    expect(seen.state?.values.every((value) => value !== 0)).toBe(true)
    expect(seen.steps.map((step) => step.microBatch)).toEqual(seen.steps.map((_, index) => index))
    expect(seen.updates).toBe(seen.steps.length)
    expect(seen.steps.at(-1)).toMatchObject({
      input: { dtype: 'float32', shape: [8, 4] },
      labels: { dtype: 'int32', shape: [8] },
      predictUpdates: 0,
    })
    expect(seen.unloaded).toBe(1)
  })

  it.each([
    { name: 'a quick engine', msPerSample: 0.4, steps: 3 + 50, samples: 8, seconds: 0.1612 },
    { name: 'a usual engine', msPerSample: 8, steps: 3 + 12, samples: 8, seconds: 0.792 },
    { name: 'a slow engine', msPerSample: 300, steps: 1 + 3, samples: 1, seconds: 1.2 },
    { name: 'a very slow engine', msPerSample: 2000, steps: 1, samples: 1, seconds: 2 },
  ])('is found on $name in about a second', async ({ msPerSample, steps, samples, seconds }) => {
    const bench = scripted((_step, batch) => batch * msPerSample)
    const speed = await measureSpeed({ engine: bench.engine, clock: bench.clock, graph: tiny })
    expect(bench.seen.steps).toHaveLength(steps)
    expect(bench.seen.steps.at(-1)!.input.shape[0]).toBe(samples)
    expect(bench.elapsedMs() / 1000).toBeCloseTo(seconds, 6)
    // The same operations a sample at every size.
    expect(speed).toBeCloseTo((36 * 3) / (msPerSample / 1000), 5)
  })

  it('can be measured on a model of tokens and on one of numbers', async () => {
    const bench = scripted(() => 10)
    const text = modelGraph.parse({
      ...tiny,
      task: 'next-token',
      input: { type: 'tokens', length: 5, vocabulary: 7 },
      layers: [
        { type: 'token-embedding', name: 'tokens', vocabulary: 7, width: 4 },
        { type: 'dense', name: 'head', units: 7 },
      ],
    })
    await measureSpeed({ engine: bench.engine, clock: bench.clock, graph: text })
    expect(bench.seen.steps.at(-1)).toMatchObject({
      input: { dtype: 'int32', shape: [8, 5] },
      labels: { dtype: 'int32', shape: [8, 5] },
    })
    expect(Math.max(...bench.seen.steps.at(-1)!.input.data)).toBeLessThan(7)

    const numbers = scripted(() => 10)
    const graph = modelGraph.parse({ ...tiny, task: 'regress', loss: { type: 'mean-squared-error' } })
    await measureSpeed({ engine: numbers.engine, clock: numbers.clock, graph })
    expect(numbers.seen.steps.at(-1)).toMatchObject({ labels: { dtype: 'float32', shape: [8, 2] } })
  })

  it.each([
    { name: 'a clock that stands still', stepMs: 0, faults: {}, says: /took 0 ms/ },
    { name: 'a clock that goes back', stepMs: -5, faults: {}, says: /cannot be measured/ },
    { name: 'a loss that is not a number', stepMs: 10, faults: { loss: NaN }, says: /not finite/ },
    { name: 'gradients that were dropped', stepMs: 10, faults: { applied: false }, says: /not finite/ },
  ])('is refused, not made up, with $name', async ({ stepMs, faults, says }) => {
    const { engine, clock, seen } = scripted(() => stepMs, faults)
    const refusal = measureSpeed({ engine, clock, graph: tiny })
    await expect(refusal).rejects.toBeInstanceOf(InvariantError)
    await expect(refusal).rejects.toThrow(says)
    expect(seen.unloaded).toBe(1)
  })

  it('is refused for a model that computes nothing, before the engine is touched', async () => {
    const { engine, clock, seen } = scripted(() => 10)
    const graph = modelGraph.parse({ ...tiny, layers: [{ type: 'flatten', name: 'flatten' }] })
    const refusal = measureSpeed({ engine, clock, graph })
    await expect(refusal).rejects.toBeInstanceOf(InvalidInputError)
    await expect(refusal).rejects.toThrow(/no layer that computes/)
    expect(seen.setup).toBeUndefined()
  })
})
