/** What a layer's rule is given and what it may tell. Tensors of a rule belong to the tf.tidy of the caller. */
import type { Tensor } from '@tensorflow/tfjs'
import { InvariantError } from '../../../../../shared/errors.ts'
import type { PlainLayer } from '../../../../../shared/model/layers.ts'

/** Tensors of the parameters of a run, by ParameterSpec name. Not owned by the layers. */
export type Parameters = ReadonlyMap<string, Tensor>

/** What batch norm saw in one micro-batch. running = momentum·running + (1 − momentum)·batch. */
export interface BatchStatistics {
  /** Name of the parameter that follows `mean`. */
  readonly meanName: string
  /** [C], kept: the receiver disposes it. */
  readonly mean: Tensor
  /** Name of the parameter that follows `variance`. */
  readonly varianceName: string
  /** [C], unbiased (divided by n − 1), kept: the receiver disposes it. */
  readonly variance: Tensor
  readonly momentum: number
}

/** How a run of layers is to behave. */
export interface RunMode {
  /** True: dropout drops and batch norm uses the micro-batch. False: no dropout, running statistics. */
  readonly training: boolean
  /** Seed of dropout for this micro-batch: mask = f(seed, layer path). Same seed, same mask, so that recomputation repeats it. */
  readonly dropoutSeed: number
  /** Training only: called once per batch norm. Absent during recomputation, so that statistics move once a micro-batch. */
  readonly onBatchStatistics?: (update: BatchStatistics) => void
}

/** Where a layer stands and what it holds. */
export interface LayerCall {
  /** `layer`, nested `block/body/layer`. */
  readonly path: string
  readonly mode: RunMode
  /** A parameter of this layer by its short name, for example `weight`. @throws InvariantError when the run lacks it */
  readonly parameter: (name: string) => Tensor
}

/** Forward rule of one type of layer: [B, ...sample] → [B, ...sample']. Gradients follow through tf's tape. */
export type LayerRule<T extends PlainLayer['type']> = (
  layer: Extract<PlainLayer, { type: T }>,
  input: Tensor,
  call: LayerCall,
) => Tensor

/** The call of a layer at a path. */
export function callAt(path: string, parameters: Parameters, mode: RunMode): LayerCall {
  return {
    path,
    mode,
    parameter(name) {
      const tensor = parameters.get(`${path}/${name}`)
      if (tensor === undefined) throw new InvariantError(`the run of layers has no parameter ${path}/${name}`)
      return tensor
    },
  }
}
