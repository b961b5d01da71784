import { afterAll, describe, expect, it } from 'vitest'
import { resolveModel } from '../../main/agent/models.ts'
import { profileOf, tapedMemoryFactor } from '../../main/core/model/profile.ts'
import { createCostModel } from '../../main/core/planner/cost.ts'
import { createTfjsEngine } from '../../main/edge/engine/tfjs/stage-engine.ts'
import { createWasmEngine } from '../../main/edge/engine/wasm/stage-engine.ts'
import { peakOf } from '../measures/stage-peak.ts'
import { recipe } from '../../shared/job/recipe.ts'
import type { LayerRange } from '../../shared/model/graph.ts'

const presets = [
  ['digits-mlp', 16],
  ['digits-cnn', 16],
  ['gpt-mini', 2],
  ['bert-mini', 2],
] as const

/** The whole model, its thirds, and single layers. */
function stagesOf(count: number): LayerRange[] {
  const third = Math.ceil(count / 3)
  return [
    [0, count],
    [0, third],
    [third, 2 * third],
    [2 * third, count],
    ...Array.from({ length: Math.min(count, 4) }, (_, from): LayerRange => [from, from + 1]),
    [count - 1, count],
  ]
}

async function planned(model: string, microBatch: number) {
  const graph = await resolveModel(model)
  const job = recipe.parse({ schedule: { microBatch } })
  const profile = profileOf(graph, job)
  const peer = {
    id: 'a',
    memoryBytes: 1e15,
    flopsPerSecond: 1,
    uploadBytesPerSecond: 1,
    downloadBytesPerSecond: 1,
  }
  const cost = createCostModel({ peers: [peer], links: [], defaultLatencySeconds: 0 }, profile)
  return { graph, job, profile, cost, stages: stagesOf(graph.layers.length) }
}

describe('what the planner reserves for a stage, whichever it is', () => {
  const own = createWasmEngine({ kernels: 'narrow', threads: 2 })
  afterAll(() => own.unload())

  it.each(presets)('is near what our kernels take where it keeps: %s', async (model, microBatch) => {
    const { graph, profile, cost, stages } = await planned(model, microBatch)
    for (const layers of stages.filter(([, to]) => to < graph.layers.length)) {
      const load = { graph, layers, microBatch, inFlight: profile.inFlight, recompute: false }
      const peak = await peakOf(own, load)
      const reserved = cost.stageBytes({ peer: 0, layers })
      expect(peak, `layers ${layers.join('-')}`).toBeLessThanOrEqual(reserved)
      expect(peak, `layers ${layers.join('-')}`).toBeGreaterThan(0.75 * reserved)
    }
  })

  it.each(presets)(
    'is never less than our kernels take where it recomputes or is the last: %s',
    async (model, microBatch) => {
      const { graph, profile, cost, stages } = await planned(model, microBatch)
      for (const layers of stages) {
        const load = { graph, layers, microBatch, inFlight: profile.inFlight, recompute: true }
        const peak = await peakOf(own, load)
        const reserved = cost.memoryBytes(layers)
        expect(peak, `layers ${layers.join('-')}`).toBeLessThanOrEqual(reserved)
        // Of a longer stage the inputs of all layers are reserved for each micro-batch in flight; it keeps one.
        const single = layers[1] - layers[0] === 1 && layers[1] < graph.layers.length
        if (single) expect(peak, `layers ${layers.join('-')}`).toBeGreaterThan(0.75 * reserved)
      }
    },
  )
})

describe('what the planner reserves for a stage on TensorFlow.js', async () => {
  const engine = await createTfjsEngine({ backend: 'wasm' })
  afterAll(() => engine.unload())

  it.each(presets)('is never less than it takes: %s', async (model, microBatch) => {
    const { graph, job, profile, cost, stages } = await planned(model, microBatch)
    for (const layers of stages) {
      const peak = await peakOf(engine, { graph, layers, microBatch, inFlight: profile.inFlight })
      const reserved = tapedMemoryFactor(graph, job) * cost.memoryBytes(layers)
      expect(peak, `layers ${layers.join('-')}`).toBeLessThanOrEqual(reserved)
    }
  })
})
