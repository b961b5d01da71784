/** Tensors across the border of the engine: plain memory in, plain memory out, never shared. */
import * as tf from '@tensorflow/tfjs'
import type { Tensor } from '@tensorflow/tfjs'

/** The wasm backend copies both ways; all others may keep or hand out the very array. */
const copiesByItself = () => tf.getBackend() === 'wasm'

/** A tensor with a copy of these elements. Int32Array becomes int32. */
export function upload(data: Float32Array | Int32Array, shape: readonly number[]): Tensor {
  const elements = copiesByItself() ? data : data.slice()
  return tf.tensor(elements, [...shape], data instanceof Int32Array ? 'int32' : 'float32')
}

/** A copy of a float32 tensor's elements, the caller's. */
export async function download(tensor: Tensor): Promise<Float32Array> {
  const elements = (await tensor.data()) as Float32Array
  return copiesByItself() ? elements : elements.slice()
}
