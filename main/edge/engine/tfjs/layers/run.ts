/** Forward of a run of layers, in tf ops that tf's automatic gradients follow. */
import * as tf from '@tensorflow/tfjs'
import type { Tensor } from '@tensorflow/tfjs'
import type { Layer, PlainLayer } from '../../../../../shared/model/layers.ts'
import { gelu, relu, silu } from './activations.ts'
import { attention } from './attention.ts'
import { conv2d } from './convolution.ts'
import { dense, flatten } from './dense.ts'
import { dropout } from './dropout.ts'
import { positionEmbedding, tokenEmbedding } from './embeddings.ts'
import { batchNorm, layerNorm } from './norms.ts'
import { averagePool, globalAveragePool, maxPool } from './pooling.ts'
import { type LayerRule, type Parameters, type RunMode, callAt } from './rule.ts'

export type { BatchStatistics, Parameters, RunMode } from './rule.ts'

const rules: { readonly [T in PlainLayer['type']]: LayerRule<T> } = {
  dense,
  conv2d,
  'max-pool': maxPool,
  'average-pool': averagePool,
  'global-average-pool': globalAveragePool,
  'batch-norm': batchNorm,
  'layer-norm': layerNorm,
  'token-embedding': tokenEmbedding,
  'position-embedding': positionEmbedding,
  attention,
  dropout,
  relu,
  gelu,
  silu,
  flatten,
}

/** What stays the same along a run and into its blocks. */
interface Surroundings {
  readonly parameters: Parameters
  readonly mode: RunMode
}

/**
 * Forward of a run of layers; pure tf ops, so that tf's automatic gradients work through it.
 * Call inside tf.tidy: intermediate tensors are left to it.
 *
 * @param input - [B, ...sample]
 * @returns [B, ...sample'] as `shared/model/layout.ts` says
 */
export function runLayers(
  layers: readonly Layer[],
  parameters: Parameters,
  input: Tensor,
  mode: RunMode,
): Tensor {
  return runAt('', layers, input, { parameters, mode })
}

function runAt(prefix: string, layers: readonly Layer[], input: Tensor, around: Surroundings): Tensor {
  return layers.reduce((x, layer) => {
    const path = `${prefix}${layer.name}`
    if (layer.type !== 'residual') return runPlain(layer, x, path, around)
    const body = runAt(`${path}/body/`, layer.body, x, around)
    const shortcut = runAt(`${path}/shortcut/`, layer.shortcut, x, around)
    return tf.add(body, shortcut)
  }, input)
}

function runPlain(layer: PlainLayer, input: Tensor, path: string, around: Surroundings): Tensor {
  // The rule for a type takes layers of that type: TypeScript cannot follow that through the table.
  const rule = rules[layer.type] as LayerRule<PlainLayer['type']>
  return rule(layer, input, callAt(path, around.parameters, around.mode))
}
