import { describe, expect, it } from 'vitest'
import { joinNumbers, numbersLength, readNumbers, writeNumbers } from '../../../main/core/job/checkpoint.ts'
import { readPortion, wholePortion } from '../../../main/core/job/moving/held.ts'
import { initialState } from '../../../main/core/model/initial-state.ts'
import type { StageEngine, StateVector } from '../../../main/core/ports.ts'
import type { Optimizer } from '../../../shared/job/recipe.ts'
import { recipe } from '../../../shared/job/recipe.ts'
import type { LayerRange } from '../../../shared/model/graph.ts'
import { modelGraph } from '../../../shared/model/graph.ts'
import { layoutOfGraph } from '../../../shared/model/layout.ts'
import { floatTensor } from '../../../shared/tensor.ts'
import { createFakeEngine } from '../../fakes/engine.ts'

const graph = modelGraph.parse({
  format: 'rookery-model/1',
  name: 'small',
  task: 'classify',
  input: { type: 'values', shape: [3] },
  layers: [
    { type: 'dense', name: 'one', units: 5 },
    { type: 'relu', name: 'bend' },
    { type: 'dense', name: 'two', units: 2 },
  ],
  loss: { type: 'cross-entropy' },
})
const whole: LayerRange = [0, 3]

async function engineWith(layers: LayerRange, optimizer: Optimizer): Promise<StageEngine> {
  const engine = createFakeEngine()
  const { learningRate } = recipe.parse({ optimizer })
  await engine.load({ graph, layers, optimizer, learningRate, seed: 1, memoryBudgetBytes: 0 })
  return engine
}

async function train(engine: StageEngine, steps: number) {
  for (let step = 0; step < steps; step++) {
    const input = { ...floatTensor(Float32Array.from([0.1, 0.2, 0.3, -1, 2, step / 7])), shape: [2, 3] }
    const labels = { dtype: 'int32' as const, shape: [2], data: Int32Array.from([0, 1]) }
    await engine.forwardLoss({ microBatch: step, input, labels, predictUpdates: 0 })
    await engine.update()
  }
}

/** As a stage of these layers would have read it. */
function partOf(vectors: readonly StateVector[], layers: LayerRange): StateVector {
  const layouts = layoutOfGraph(graph)
  const held = { layers: whole, vectors: vectors.map(({ values }) => values) }
  return { layers, values: readPortion(layouts, held, wholePortion(layouts, layers)) }
}

const optimizers = [{ type: 'adamw' }, { type: 'sgd', momentum: 0.9 }].map(
  (optimizer) => recipe.parse({ optimizer: { learningRate: 0.1, ...optimizer } }).optimizer,
)

const rest = () => Promise.resolve()

describe.each(optimizers)('a checkpoint with $type', (optimizer) => {
  it('goes through other cuts and back without changing a bit, and the training goes on as if never stopped', async () => {
    const first = await engineWith(whole, optimizer)
    await first.writeState(initialState(graph, whole, 9))
    await train(first, 5)
    const numbers = await readNumbers(first, whole, rest)
    expect(numbers.values).toHaveLength(numbersLength(graph, whole, optimizer))

    const checkpoint = {
      trained: { updates: 5, samples: 10, lost: 0, doubled: 0, cuts: [] },
      vectors: await joinNumbers(graph, [numbers], rest),
    }
    const cuts: LayerRange[] = [[2, 3], [0, 2]] // prettier-ignore
    const parts = cuts.map((layers) => partOf(checkpoint.vectors, layers))
    for (const [index, part] of parts.entries())
      expect(part.values).toHaveLength(numbersLength(graph, cuts[index]!, optimizer))
    const again = { ...checkpoint, vectors: await joinNumbers(graph, parts, rest) }
    const back = partOf(again.vectors, whole)
    expect(back.values).toEqual(numbers.values)

    const second = await engineWith(whole, optimizer)
    await writeNumbers(second, back, { graph, optimizer, updates: 5 })
    await train(first, 3)
    await train(second, 3)
    expect((await second.readState(whole)).values).toEqual((await first.readState(whole)).values)
    expect(await second.readOptimizer()).toEqual(await first.readOptimizer())
  })
})

it('is one vector long where the optimizer is not asked for', () => {
  expect(numbersLength(graph, [0, 2], undefined)).toBe(3 * 5 + 5)
})
