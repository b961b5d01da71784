import { describe, expect, it } from 'vitest'
import { profileOf } from '../../../main/core/model/profile.ts'
import { recipe } from '../../../shared/job/recipe.ts'
import type { ModelGraph } from '../../../shared/model/graph.ts'
import { layoutOfGraph } from '../../../shared/model/layout.ts'
import { modelProfile } from '../../../shared/plan/pool.ts'
import { elementCount } from '../../../shared/tensor.ts'
import { preset, smallImageGraph } from './graphs.ts'

const plain = recipe.parse({})
const flopsOf = (graph: ModelGraph) =>
  profileOf(graph, plain).layers.reduce((sum, layer) => sum + layer.flopsPerSample, 0)

describe('the profile of a model', () => {
  it('counts bytes and operations layer by layer', () => {
    const [conv, norm, block] = profileOf(smallImageGraph, plain).layers
    expect(
      [conv, norm, block].map((layer) => [layer?.parameterBytes, layer?.activationBytesPerSample]),
    ).toEqual([
      [4 * 9 * 2 * 3, 4 * 4 * 4 * 3],
      [4 * 4 * 3, 4 * 4 * 4 * 3],
      [4 * (9 * 3 * 4 + 4 + 4 * 4 + 3 * 4 + 4), 4 * 2 * 2 * 4],
    ])
    expect(conv?.flopsPerSample).toBe(2 * (9 * 2) * (4 * 4 * 3))
    // conv 3→4, norm, relu; pool, dense 3→4; sum
    expect(block?.flopsPerSample).toBe(2 * 9 * 3 * 16 + 8 * 16 + 16 + 4 * 12 + 2 * 12 * 4 + 16)
  })

  it('agrees with the published operations of ResNet-18 on 32×32 images', () => {
    // 0.556 G multiply-adds in convolutions and the dense layer; norms, activations and pools are the rest
    expect(flopsOf(preset('resnet18')) / 2 / 0.5564e9).toBeCloseTo(1, 1)
  })

  it('counts the copies that the optimizer needs beside the weights', () => {
    const factor = (optimizer: unknown) => profileOf(smallImageGraph, recipe.parse({ optimizer })).stateFactor
    expect([
      factor({ type: 'sgd', learningRate: 0.1 }),
      factor({ type: 'sgd', learningRate: 0.1, momentum: 0.9 }),
      factor({ type: 'adamw', learningRate: 0.1 }),
      factor({ type: 'lamb', learningRate: 0.1 }),
    ]).toEqual([3, 4, 5, 6])
  })

  it('takes the schedule from the recipe, and what it leaves open from the caller', () => {
    const open = profileOf(smallImageGraph, plain, { inFlight: 3, accumulate: 6 })
    const fixed = profileOf(
      smallImageGraph,
      recipe.parse({
        schedule: { microBatch: 2, inFlight: 5, accumulate: 7 },
        sync: { averageEveryUpdates: 9 },
      }),
    )
    const numbers = (profile: typeof open) => [
      profile.microBatch,
      profile.inFlight,
      profile.accumulate,
      profile.averageEveryUpdates,
    ]
    expect([numbers(open), numbers(fixed)]).toEqual([
      [16, 3, 6, 10],
      [2, 5, 7, 9],
    ])
  })

  it('bounds, for every stage, K inputs kept in flight and one recomputed backward pass', () => {
    const graph = preset('gpt-mini')
    const inFlight = 5
    // With one in flight, working bytes are input and a whole pass of the layer itself.
    const alone = profileOf(graph, plain, { inFlight: 1, accumulate: 1 }).layers
    const layers = profileOf(graph, plain, { inFlight, accumulate: 1 }).layers
    const inputs = layoutOfGraph(graph).map((layout) => 4 * elementCount(layout.inputShape))
    for (let from = 0; from < layers.length; from++) {
      for (let to = from + 1; to <= layers.length; to++) {
        let backward = 0
        let counted = 0
        for (let index = from; index < to; index++) {
          backward += (alone[index]?.workingBytesPerSample ?? 0) - (inputs[index] ?? 0)
          counted += inFlight * (layers[index]?.workingBytesPerSample ?? 0)
        }
        expect(counted).toBeGreaterThanOrEqual(inFlight * (inputs[from] ?? 0) + backward)
      }
    }
  })

  it('is a profile that PROFILE.json could hold', () => {
    const profile = profileOf(preset('bert-mini'), plain)
    expect(modelProfile.parse(profile)).toEqual(profile)
  })
})
