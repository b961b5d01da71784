/** Forward and backward over a run of layers at given weights. Call inside tf.tidy; nothing is kept here. */
import * as tf from '@tensorflow/tfjs'
import type { Tensor } from '@tensorflow/tfjs'
import type { Layer } from '../../../../shared/model/layers.ts'
import { type Parameters, type RunMode, runLayers } from './layers/run.ts'

/** Layers and the weights to run them at. */
export interface Run {
  readonly layers: readonly Layer[]
  readonly parameters: Parameters
  readonly mode: RunMode
}

/** Forward without gradients: each layer's temporaries and input are gone before the next. Never the input itself. */
export function forwardPass({ layers, parameters, mode }: Run, input: Tensor): Tensor {
  let x = input
  for (const layer of layers) {
    const before = x
    x = tf.tidy(() => runLayers([layer], parameters, before, mode))
    if (before !== input && x !== before) before.dispose()
  }
  return x === input ? tf.clone(input) : x
}

/** By what gradients are wanted. */
export interface Sources {
  /** Undefined at the root. */
  readonly input: Tensor | undefined
  readonly weights: ReadonlyMap<string, Tensor>
}

/** Gradients by the input and, by name, by the weights; a weight that nothing depends on is missing. */
export interface Slopes {
  readonly input: Tensor | undefined
  readonly weights: ReadonlyMap<string, Tensor>
}

/**
 * Run f under TensorFlow.js's tape, then backward.
 *
 * @param dy - the gradient by f's value, of its shape; absent: ones
 */
export function slopesOf(f: () => Tensor, sources: Sources, dy?: Tensor): Slopes {
  const byInput = sources.input !== undefined
  const all = [...(sources.input ? [sources.input] : []), ...sources.weights.values()]
  if (all.length === 0) {
    // The root of a model may be layers without weights: no gradient, but the forward's effects are wanted.
    f()
    return { input: undefined, weights: new Map() }
  }
  const found: (Tensor | undefined)[] = tf.engine().gradients(f, all, dy, true).grads
  const input = byInput ? (found.shift() ?? tf.zerosLike(sources.input)) : undefined
  const weights = new Map<string, Tensor>()
  for (const [index, name] of [...sources.weights.keys()].entries()) {
    const gradient = found[index]
    if (gradient !== undefined) weights.set(name, gradient)
  }
  return { input, weights }
}
