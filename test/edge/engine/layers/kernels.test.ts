/** Our wasm kernels at sizes that cross their blocks and tiles, against plain loops and the plain CPU backend. */
import * as tf from '@tensorflow/tfjs'
import type { Tensor, Tensor4D } from '@tensorflow/tfjs'
import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { openBackend } from '../../../../main/edge/engine/tfjs/backends.ts'
import { createRng, nextInt, nextNormal } from '../../../../shared/random.ts'
import { relativeError } from './reference-cases.ts'

function drawn(seed: number, length: number): Float32Array {
  const rng = createRng(seed)
  return Float32Array.from({ length }, () => nextNormal(rng))
}

type Input = readonly [shape: number[], values: Float32Array | Int32Array]

/** The values of what a function makes of tensors over the same numbers, on one backend. */
async function on(
  backend: 'cpu' | 'wasm',
  inputs: readonly Input[],
  make: (...tensors: Tensor[]) => Tensor,
): Promise<Float32Array> {
  await openBackend(backend)
  return tf.tidy(() => {
    const tensors = inputs.map(([shape, values]) =>
      tf.tensor(values, shape, values instanceof Int32Array ? 'int32' : 'float32'),
    )
    return Float32Array.from(make(...tensors).dataSync())
  })
}

const elements = (shape: readonly number[]) => shape.reduce((product, extent) => product * extent, 1)
const values = (shape: number[], seed: number): Input => [shape, drawn(seed, elements(shape))]

interface Extents {
  readonly batch: number
  readonly m: number
  readonly k: number
  readonly n: number
  readonly ta: boolean
  readonly tb: boolean
}

/** [batch, m, n] by three loops in double precision. */
function plainProduct({ batch, m, k, n, ta, tb }: Extents, a: Float32Array, b: Float32Array): Float64Array {
  const out = new Float64Array(batch * m * n)
  for (let plane = 0; plane < batch; plane++)
    for (let row = 0; row < m; row++)
      for (let column = 0; column < n; column++) {
        let sum = 0
        for (let depth = 0; depth < k; depth++)
          sum +=
            a[plane * m * k + (ta ? depth * m + row : row * k + depth)]! *
            b[plane * k * n + (tb ? column * k + depth : depth * n + column)]!
        out[(plane * m + row) * n + column] = sum
      }
  return out
}

function productError(extents: Extents): number {
  const { batch, m, k, n, ta, tb } = extents
  const [a, b] = [drawn(1, batch * m * k), drawn(2, batch * k * n)]
  const found = tf.tidy(() =>
    tf
      .matMul(
        tf.tensor(a, ta ? [batch, k, m] : [batch, m, k]),
        tf.tensor(b, tb ? [batch, n, k] : [batch, k, n]),
        ...([ta, tb] as const),
      )
      .dataSync(),
  )
  return relativeError(found, plainProduct(extents, a, b))
}

describe('the matrix product on wasm', () => {
  beforeAll(() => openBackend('wasm'))

  it('is the product, for any extents, batch and transposes', () => {
    const extent = fc.integer({ min: 1, max: 40 })
    const extents = fc.record({
      ...{ batch: fc.integer({ min: 1, max: 3 }), m: extent, k: extent, n: extent },
      ...{ ta: fc.boolean(), tb: fc.boolean() },
    })
    fc.assert(
      fc.property(extents, (drawnExtents) => productError(drawnExtents) < 2e-6),
      { numRuns: 200, seed: 1 },
    )
  })

  it.each([
    { batch: 1, m: 199, k: 517, n: 13, ta: false, tb: false },
    { batch: 2, m: 97, k: 257, n: 9, ta: true, tb: false },
    { batch: 1, m: 7, k: 261, n: 1037, ta: false, tb: true },
    { batch: 1, m: 103, k: 5, n: 2050, ta: true, tb: true },
  ])('crosses its blocks without a seam: %o', (extents) => {
    expect(productError(extents)).toBeLessThan(2e-6)
  })

  it('uses a single plane for every plane of the other', () => {
    const [a, b] = [drawn(3, 6), drawn(4, 24)]
    const found = tf.tidy(() => tf.matMul(tf.tensor(a, [1, 2, 3]), tf.tensor(b, [2, 3, 4])).dataSync())
    const twice = Float32Array.from([...a, ...a])
    const expected = plainProduct({ batch: 2, m: 2, k: 3, n: 4, ta: false, tb: false }, twice, b)
    expect(relativeError(found, expected)).toBeLessThan(2e-6)
  })

  it('does not let garbage beside a matrix into it', () => {
    const poisoned = tf.tidy(() => tf.fill([4096], NaN).dataSync())
    expect(poisoned[0]).toBeNaN()
    expect(productError({ batch: 3, m: 5, k: 3, n: 7, ta: true, tb: true })).toBeLessThan(2e-6)
  })
})

describe('gradient kernels on wasm', () => {
  const image = [18, 20, 21, 16]
  const filter = [3, 3, 16, 5]
  const places = [18, 10, 11, 5]

  it('make the filter gradient of the plain backend, over several blocks of windows', async () => {
    const make = (x: Tensor, dy: Tensor) =>
      tf.grads((weight) => tf.conv2d(x as Tensor4D, weight as Tensor4D, 2, 'same'))(
        [tf.zeros(filter)],
        dy,
      )[0]!
    const inputs = [values(image, 5), values(places, 6)] as const
    expect(relativeError(await on('wasm', inputs, make), await on('cpu', inputs, make))).toBeLessThan(2e-6)
  })

  it('make the input gradient of the plain backend, over several blocks of windows', async () => {
    const make = (weight: Tensor, dy: Tensor) =>
      tf.grads((x) => tf.conv2d(x as Tensor4D, weight as Tensor4D, 2, 'same'))([tf.zeros(image)], dy)[0]!
    const inputs = [values(filter, 7), values(places, 8)] as const
    expect(relativeError(await on('wasm', inputs, make), await on('cpu', inputs, make))).toBeLessThan(2e-6)
  })

  it('sum rows as the plain backend does', async () => {
    const inputs = [values([3000, 13], 9)] as const
    const make = (x: Tensor) => tf.sum(tf.reshape(x, [30, 100, 13]), [0, 1], true)
    expect(relativeError(await on('wasm', inputs, make), await on('cpu', inputs, make))).toBeLessThan(2e-6)
  })

  it('sum other axes, all axes and integers as the plain backend does', async () => {
    const rng = createRng(10)
    const whole = Int32Array.from({ length: 60 }, () => nextInt(rng, 100))
    const make = (x: Tensor) =>
      tf.concat([tf.sum(x, 1).flatten(), tf.sum(x).flatten(), tf.sum(x, [0, 2]).flatten()])
    const inputs: Input[] = [[[3, 4, 5], whole]]
    expect(await on('wasm', inputs, make)).toEqual(await on('cpu', inputs, make))
  })

  it('sum segments as the plain backend does, and drop rows of no segment', async () => {
    const rng = createRng(11)
    const ids = Int32Array.from({ length: 300 }, () => nextInt(rng, 9) - 1)
    const x = values([300, 7], 12)
    const make = (rows: Tensor, segments: Tensor) => tf.unsortedSegmentSum(rows, segments as tf.Tensor1D, 7)
    const onWasm = await on('wasm', [x, [[300], ids]], make)
    const plain = new Float64Array(7 * 7)
    ids.forEach((id, row) => {
      if (id < 0 || id >= 7) return
      for (let column = 0; column < 7; column++) plain[id * 7 + column]! += x[1][row * 7 + column]!
    })
    expect(relativeError(onWasm, plain)).toBeLessThan(2e-6)
  })
})
