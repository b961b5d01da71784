/**
 * A model of the same layers that weighs nothing: core cuts it, sends it and averages it as the real one, while what
 * things cost comes from the profile. Every layer has the same few numbers, so many that each ring cuts them evenly.
 */
import type { LayerRange, ModelGraph } from '../../shared/model/graph.ts'
import type { ModelProfile } from '../../shared/plan/pool.ts'
import { floatTensor, type HostTensor } from '../../shared/tensor.ts'

export interface StandIn {
  readonly graph: ModelGraph
  /** [1, D]: every activation and gradient. */
  readonly tensor: HostTensor
  /** Numbers of a run of layers. */
  readonly lengthOf: (layers: LayerRange) => number
}

/** @param clusters - C: a ring cuts what it averages in so many chunks */
export function standInFor(profile: ModelProfile, clusters: number): StandIn {
  const graph: ModelGraph = {
    format: 'rookery-model/1',
    name: profile.name,
    task: 'regress',
    input: { type: 'values', shape: [clusters] },
    // A gain and a shift of width D = C: 2C numbers.
    layers: profile.layers.map((_, index) => ({ type: 'layer-norm', name: `layer-${index}`, epsilon: 1e-5 })),
    loss: { type: 'mean-squared-error' },
  }
  return {
    graph,
    tensor: floatTensor(new Float32Array(clusters), [1, clusters]),
    lengthOf: ([from, to]) => 2 * clusters * (to - from),
  }
}
