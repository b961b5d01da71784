/** Gradients of every layer against central finite differences of our own forward, on every backend we ship. */
import * as tf from '@tensorflow/tfjs'
import type { Tensor } from '@tensorflow/tfjs'
import { beforeAll, describe, expect, it } from 'vitest'
import { openBackend } from '../../../../main/edge/engine/tfjs/backends.ts'
import { runLayers } from '../../../../main/edge/engine/tfjs/layers/run.ts'
import { type Layer, layer } from '../../../../shared/model/layers.ts'
import { createRng, nextNormal, seedFrom } from '../../../../shared/random.ts'
import { type ReferenceCase, parametersOf, referenceCases, runCase, tensorOf } from './reference-cases.ts'

/** Forwards are single precision: smaller steps drown in rounding, larger ones in curvature. */
const step = 2 ** -7
const tolerance = 2e-4 // reached: below 1e-4

/** Σ y·dy in double precision. */
function scalarOutput(one: ReferenceCase, parameters: Map<string, Tensor>, input: Tensor): number {
  const output = tf.tidy(() =>
    runLayers(one.layers, parameters, input, { training: one.training, dropoutSeed: 1 }).dataSync(),
  )
  return one.outputGradient.values.reduce((sum, dy, index) => sum + dy * output[index]!, 0)
}

/** (8·(f(x + h·v) − f(x − h·v)) − f(x + 2h·v) + f(x − 2h·v)) / 12h for one tensor x of the case. */
function slopeAlong(one: ReferenceCase, name: string, direction: readonly number[]): number {
  const parameters = parametersOf(one)
  const input = tensorOf(one.input, one.input.dtype)
  const moved = (by: number) => {
    const base = name === 'the input' ? input : parameters.get(name)!
    const shifted = tf.tidy(() => base.add(tf.tensor([...direction], base.shape).mul(by)))
    const value =
      name === 'the input'
        ? scalarOutput(one, parameters, shifted)
        : scalarOutput(one, new Map([...parameters, [name, shifted]]), input)
    shifted.dispose()
    return value
  }
  const across = (by: number) => moved(by) - moved(-by)
  const slope = (8 * across(step) - across(2 * step)) / (12 * step)
  tf.dispose([input, ...parameters.values()])
  return slope
}

const smooth = (one: ReferenceCase) => !one.layers.some(({ type }) => type === 'relu' || type === 'max-pool')

describe.each(['cpu', 'wasm'] as const)('gradients on %s', (backend) => {
  beforeAll(() => openBackend(backend))

  it.each(referenceCases.filter(smooth).map((one) => [one.name, one] as const))(
    'are what the forward does when it is nudged: %s',
    (_name, one) => {
      const numbers = runCase(one)
      for (const [key, gradient] of numbers) {
        if (!key.startsWith('gradient of ')) continue
        const name = key.slice('gradient of '.length)
        const rng = createRng(seedFrom(one.name, name))
        const direction = Array.from(gradient, () => nextNormal(rng))
        const slope = slopeAlong(one, name, direction)
        const along = gradient.reduce((sum, value, index) => sum + value * direction[index]!, 0)
        const size = Math.hypot(...gradient)
        expect(Math.abs(slope - along) / size, key).toBeLessThan(tolerance)
      }
    },
  )

  it('of ReLU and max pooling pass to the chosen element alone, the first of equals', () => {
    const layers: readonly Layer[] = [
      layer.parse({ type: 'relu', name: 'bend' }),
      layer.parse({ type: 'max-pool', name: 'pool', size: 2 }),
    ]
    const x = tf.tensor([-1, 5, 5, 2, -3, -1, -2, -4], [1, 2, 4, 1])
    const dy = tf.tensor([10, 20], [1, 1, 2, 1])
    const [gradient] = tf.grads((input) =>
      runLayers(layers, new Map(), input, { training: true, dropoutSeed: 0 }),
    )([x], dy)
    expect(Array.from(gradient!.dataSync())).toEqual([0, 10, 20, 0, 0, 0, 0, 0])
    tf.dispose([x, dy, gradient!])
  })
})
