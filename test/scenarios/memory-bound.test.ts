import { afterAll, describe, expect, it } from 'vitest'
import { resolveModel } from '../../main/agent/models.ts'
import { initialState } from '../../main/core/model/initial-state.ts'
import { profileOf } from '../../main/core/model/profile.ts'
import { createCostModel } from '../../main/core/planner/cost.ts'
import type { StageEngine } from '../../main/core/ports.ts'
import { createTfjsEngine } from '../../main/edge/engine/tfjs/stage-engine.ts'
import { recipe } from '../../shared/job/recipe.ts'
import type { LayerRange, ModelGraph } from '../../shared/model/graph.ts'
import { layoutOfGraph } from '../../shared/model/layout.ts'
import { createRng } from '../../shared/random.ts'
import { elementCount, type HostTensor } from '../../shared/tensor.ts'

const rng = createRng(1)
const floats = (shape: readonly number[]): HostTensor => {
  const data = Float32Array.from({ length: elementCount(shape) }, () => rng.next() - 0.5)
  return { dtype: 'float32', shape, data }
}
const ids = (shape: readonly number[], below: number): HostTensor => {
  const data = Int32Array.from({ length: elementCount(shape) }, () => Math.floor(rng.next() * below))
  return { dtype: 'int32', shape, data }
}

/** Two updates of a stage with as much in flight as a plan allows. @returns the engine's peak in bytes */
async function peakOf(
  engine: StageEngine,
  graph: ModelGraph,
  layers: LayerRange,
  setup: { b: number; inFlight: number },
) {
  const { b, inFlight } = setup
  const { optimizer, learningRate } = recipe.parse({})
  const layouts = layoutOfGraph(graph)
  const [from, to] = layers
  const inputShape = [b, ...layouts[from]!.inputShape]
  const outputShape = [b, ...layouts[to - 1]!.outputShape]
  const input = () =>
    from === 0 && graph.input.type === 'tokens' ? ids(inputShape, 256) : floats(inputShape)
  await engine.load({ graph, layers, optimizer, learningRate, clipNorm: 1, seed: 0, memoryBudgetBytes: 0 })
  await engine.writeState(initialState(graph, layers, 0))
  for (let round = 0; round < 2; round++) {
    const microBatches = Array.from({ length: inFlight }, (_, index) => round * inFlight + index)
    for (const microBatch of microBatches) {
      const request = { microBatch, input: input(), predictUpdates: microBatch % 2 }
      if (to < graph.layers.length) await engine.forward(request)
      else
        await engine.forwardLoss({ ...request, labels: ids(outputShape.slice(0, -1), outputShape.at(-1)!) })
    }
    if (to < graph.layers.length)
      for (const microBatch of microBatches) await engine.backward(microBatch, floats(outputShape))
    await engine.update()
  }
  const { peakBytes } = await engine.memory()
  await engine.unload()
  return peakBytes
}

describe('what the planner reserves for a stage', async () => {
  const engine = await createTfjsEngine({ backend: 'wasm' })
  afterAll(() => engine.unload())

  it.each([
    ['digits-mlp', 16],
    ['digits-cnn', 16],
    ['gpt-mini', 2],
    ['bert-mini', 2],
  ])(
    'is never less than the engine takes, for any first, middle, last or only stage of %s',
    async (model, b) => {
      const graph = await resolveModel(model)
      const profile = profileOf(graph, recipe.parse({ schedule: { microBatch: b } }))
      const { memoryBytes } = createCostModel({ peers: [], links: [], defaultLatencySeconds: 0 }, profile)
      const count = graph.layers.length
      const third = Math.ceil(count / 3)
      const stages: LayerRange[] = [
        [0, count],
        [0, third],
        [third, 2 * third],
        [2 * third, count],
        ...Array.from({ length: Math.min(count, 4) }, (_, from): LayerRange => [from, from + 1]),
        [count - 1, count],
      ]
      for (const layers of stages) {
        const peak = await peakOf(engine, graph, layers, { b, inFlight: profile.inFlight })
        const reserved = memoryBytes(layers)
        expect(peak, `layers ${layers.join('-')}`).toBeLessThanOrEqual(reserved)
        expect(peak, `layers ${layers.join('-')}`).toBeGreaterThan(0.3 * reserved)
      }
    },
  )
})
