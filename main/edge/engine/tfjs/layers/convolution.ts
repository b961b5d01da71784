/** 2-D convolution, plain, grouped or depthwise. B samples, H×W pixels, C channels, F filters, G groups, k kernel. */
import * as tf from '@tensorflow/tfjs'
import type { Tensor, Tensor4D } from '@tensorflow/tfjs'
import type { LayerRule } from './rule.ts'

export const conv2d: LayerRule<'conv2d'> = (layer, input, { parameter }) => {
  const x = input as Tensor4D // [B, H, W, C]
  const weight = parameter('weight') as Tensor4D // [k, k, C/G, F]
  const [, , , channels] = x.shape
  const slide = (part: Tensor4D, filters: Tensor4D) => tf.conv2d(part, filters, layer.stride, layer.padding) // [B, H', W', F/G]
  let product: Tensor
  if (layer.groups === 1) product = slide(x, weight)
  else if (layer.groups === channels) product = depthwise(x, weight, layer)
  else {
    const parts = tf.split<Tensor4D>(x, layer.groups, 3)
    const filters = tf.split<Tensor4D>(weight, layer.groups, 3)
    product = tf.concat(
      parts.map((part, group) => slide(part, filters[group] ?? weight)),
      3,
    )
  }
  return layer.bias ? tf.add(product, parameter('bias')) : product // [B, H', W', F]
}

/** Filter f of our weight sees channel floor(f / M), M = F/C, as tf's depthwise filter [k, k, C, M] has it. */
function depthwise(
  x: Tensor4D,
  weight: Tensor4D,
  layer: { readonly stride: number; readonly padding: 'same' | 'valid' },
): Tensor {
  const [height, width, , filters] = weight.shape
  const [, , , channels] = x.shape
  const filter = tf.reshape<tf.Rank.R4>(weight, [height, width, channels, filters / channels]) // [k, k, C, M]
  return tf.depthwiseConv2d(x, filter, layer.stride, layer.padding) // [B, H', W', C·M]
}
