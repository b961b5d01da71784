/** Puts our kernels into TensorFlow.js's wasm backend: those it lacks, and those it has but slow. */
import * as tf from '@tensorflow/tfjs'
import type { KernelFunc, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs'
import { InvariantError } from '../../../../../shared/errors.ts'
import { elementCount } from '../../../../../shared/tensor.ts'
import { filterGradient, inputGradient } from './convolution.ts'
import { depthwiseFilterGradient, depthwiseInputGradient } from './depthwise.ts'
import { type Multiply, createMultiply } from './gemm.ts'
import { type Heap, openHeap } from './heap.ts'
import { multiplyBatches } from './matmul.ts'
import { maxPoolGradient } from './pooling.ts'
import { sumOfRows, sumOfSegments } from './sums.ts'
import { windowsOf } from './windows.ts'

type Four = [number, number, number, number]
/** Attributes of tf's kernels, as far as ours read them. */
interface Attributes {
  readonly transposeA: boolean
  readonly transposeB: boolean
  readonly strides: number | [number, number]
  readonly pad: 'same' | 'valid' | number
  readonly dimRoundingMode?: 'floor' | 'round' | 'ceil'
  readonly filterShape: Four
  readonly inputShape: Four
  readonly filterSize: number | [number, number]
  readonly numSegments: number
  readonly axis: number | number[]
  readonly keepDims: boolean
}
type Kernel = (inputs: NamedTensorInfoMap, attributes: Attributes) => TensorInfo
type Kernels = Readonly<Record<string, Kernel>>

const registered = new WeakSet<object>()

/** Registers every kernel of this folder. The wasm backend must be the current one. Once for a backend. */
export function registerWasmKernels(): void {
  const backend = tf.backend()
  if (registered.has(backend)) return
  registered.add(backend)
  const heap = openHeap()
  const multiply = createMultiply(heap)
  const kernels = { ...productKernels(heap, multiply), ...sumKernels(heap, multiply) }
  for (const [kernelName, kernel] of Object.entries(kernels)) {
    // tf types the absence of a kernel away.
    const stock = tf.getKernel(kernelName, 'wasm') as tf.KernelConfig | undefined
    if (stock !== undefined) tf.unregisterKernel(kernelName, 'wasm')
    const kernelFunc: KernelFunc = ({ inputs, attrs }) => kernel(inputs, attrs as unknown as Attributes)
    tf.registerKernel({ kernelName, backendName: 'wasm', kernelFunc })
  }
}

function need(inputs: NamedTensorInfoMap, name: string): TensorInfo {
  const input = inputs[name]
  if (input === undefined) throw new InvariantError(`a kernel is called without its input ${name}`)
  return input
}

function convolution(
  image: readonly number[],
  filter: readonly number[],
  attributes: Attributes,
  depthwise = false,
) {
  const { strides, pad, dimRoundingMode } = attributes
  const info = tf.backend_util.computeConv2DInfo(
    ...([image as Four, filter as Four, strides, 1] as const),
    ...([pad, dimRoundingMode, depthwise] as const),
  )
  return windowsOf(info)
}

function productKernels(heap: Heap, multiply: Multiply): Kernels {
  return {
    BatchMatMul: (inputs, { transposeA, transposeB }) =>
      multiplyBatches(heap, multiply, { a: need(inputs, 'a'), b: need(inputs, 'b'), transposeA, transposeB }),
    Conv2DBackpropFilter(inputs, attributes) {
      const [x, dy, { filterShape }] = [need(inputs, 'x'), need(inputs, 'dy'), attributes]
      return filterGradient(heap, multiply, convolution(x.shape, filterShape, attributes), {
        x,
        dy,
        filterShape,
      })
    },
    Conv2DBackpropInput(inputs, attributes) {
      const [dy, filter] = [need(inputs, 'dy'), need(inputs, 'filter')]
      const windows = convolution(attributes.inputShape, filter.shape, attributes)
      return inputGradient(heap, multiply, windows, { dy, filter })
    },
    DepthwiseConv2dNativeBackpropFilter(inputs, attributes) {
      const [x, dy, { filterShape }] = [need(inputs, 'x'), need(inputs, 'dy'), attributes]
      const windows = convolution(x.shape, filterShape, attributes, true)
      return depthwiseFilterGradient(heap, windows, { x, dy, filterShape })
    },
    DepthwiseConv2dNativeBackpropInput(inputs, attributes) {
      const [dy, filter] = [need(inputs, 'dy'), need(inputs, 'filter')]
      const windows = convolution(attributes.inputShape, filter.shape, attributes, true)
      return depthwiseInputGradient(heap, windows, { dy, filter })
    },
  }
}

function sumKernels(heap: Heap, multiply: Multiply): Kernels {
  // tf types the absence of a kernel away.
  const stockSum = (tf.getKernel('Sum', 'wasm') as tf.KernelConfig | undefined)?.kernelFunc
  return {
    UnsortedSegmentSum: (inputs, { numSegments }) =>
      sumOfSegments(heap, { x: need(inputs, 'x'), segments: need(inputs, 'segmentIds'), count: numSegments }),
    MaxPoolGrad(inputs, { filterSize, strides, pad, dimRoundingMode }) {
      const [x, dy] = [need(inputs, 'input'), need(inputs, 'dy')]
      const info = tf.backend_util.computePool2DInfo(
        ...([x.shape as Four, filterSize, strides, 1] as const),
        ...([pad, dimRoundingMode] as const),
      )
      return maxPoolGradient(heap, windowsOf(info), { x, dy })
    },
    Sum(inputs, attributes) {
      const x = need(inputs, 'x')
      const axes = tf.util.parseAxisParam(attributes.axis, x.shape)
      const leading = axes.length < x.shape.length && axes.every((axis, index) => axis === index)
      if (!leading || x.dtype !== 'float32') {
        if (stockSum === undefined) throw new InvariantError('the wasm backend has no Sum')
        return stockSum({ inputs, attrs: { ...attributes }, backend: tf.backend() }) as TensorInfo
      }
      const rest = x.shape.slice(axes.length)
      const output = attributes.keepDims ? [...axes.map(() => 1), ...rest] : rest
      return sumOfRows(heap, multiply, x, { columns: elementCount(rest), output })
    },
  }
}
