import { afterAll, describe, expect, it } from 'vitest'
import { resolveModel } from '../../main/agent/models.ts'
import { profileOf } from '../../main/core/model/profile.ts'
import { createCostModel } from '../../main/core/planner/cost.ts'
import { createTfjsEngine } from '../../main/edge/engine/tfjs/stage-engine.ts'
import { peakOf } from '../measures/stage-peak.ts'
import { recipe } from '../../shared/job/recipe.ts'
import type { LayerRange } from '../../shared/model/graph.ts'

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
    async (model, microBatch) => {
      const graph = await resolveModel(model)
      const profile = profileOf(graph, recipe.parse({ schedule: { microBatch } }))
      const cost = createCostModel({ peers: [], links: [], defaultLatencySeconds: 0 }, profile)
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
        const peak = await peakOf(engine, { graph, layers, microBatch, inFlight: profile.inFlight })
        const reserved = cost.memoryBytes(layers)
        expect(peak, `layers ${layers.join('-')}`).toBeLessThanOrEqual(reserved)
        expect(peak, `layers ${layers.join('-')}`).toBeGreaterThan(0.3 * reserved)
      }
    },
  )
})
