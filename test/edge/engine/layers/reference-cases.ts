/** The committed PyTorch cases, and running one of them through our layers. */
import { readFileSync } from 'node:fs'
import * as tf from '@tensorflow/tfjs'
import type { Tensor } from '@tensorflow/tfjs'
import { type Parameters, type RunMode, runLayers } from '../../../../main/edge/engine/tfjs/layers/run.ts'
import { type Layer, layer } from '../../../../shared/model/layers.ts'

export interface Values {
  readonly shape: readonly number[]
  readonly values: readonly number[]
}

/** One case of `reference/make.py`. */
export interface ReferenceCase {
  readonly name: string
  readonly layers: readonly Layer[]
  readonly training: boolean
  readonly input: Values & { readonly dtype: 'float32' | 'int32' }
  readonly parameters: Readonly<Record<string, Values>>
  readonly outputGradient: Values
  readonly output: Values
  readonly inputGradient: Values | null
  readonly parameterGradients: Readonly<Record<string, Values>>
  readonly stateAfter: Readonly<Record<string, Values>>
}

const families = ['dense', 'activations', 'convolution', 'pooling', 'norms', 'sequences', 'blocks']

export const referenceCases: readonly ReferenceCase[] = families.flatMap((family) => {
  const file = new URL(`reference/${family}.json`, import.meta.url)
  const cases = JSON.parse(readFileSync(file, 'utf8')) as ReferenceCase[]
  return cases.map((one) => ({ ...one, layers: one.layers.map((raw) => layer.parse(raw)) }))
})

/** Numbers of a run: output first, then gradients and state by name. */
export type Numbers = ReadonlyMap<string, Float32Array>

export const tensorOf = ({ shape, values }: Values, dtype: 'float32' | 'int32' = 'float32') =>
  tf.tensor(Array.from(values), [...shape], dtype)

/** The case's own parameters as tensors; the caller disposes them. */
export function parametersOf(one: ReferenceCase): Map<string, Tensor> {
  return new Map(Object.entries(one.parameters).map(([name, values]) => [name, tensorOf(values)]))
}

/** What PyTorch made of the case. */
export function expectedNumbers(one: ReferenceCase): ReadonlyMap<string, readonly number[]> {
  const named = (part: string, values: Readonly<Record<string, Values>>) =>
    Object.entries(values).map(([name, { values: numbers }]) => [`${part} ${name}`, numbers] as const)
  return new Map([
    ['output', one.output.values],
    ...(one.inputGradient === null ? [] : [['gradient of the input', one.inputGradient.values] as const]),
    ...named('gradient of', one.parameterGradients),
    ...named('state', one.stateAfter),
  ])
}

/** What our layers make of it, on the backend that is set. Leaves no tensor behind. */
export function runCase(one: ReferenceCase): Numbers {
  const parameters = parametersOf(one)
  const input = tensorOf(one.input, one.input.dtype)
  const found = new Map<string, Float32Array>()
  const keep = (name: string, tensor: Tensor) => {
    found.set(name, Float32Array.from(tensor.dataSync()))
    tensor.dispose()
  }
  const states = new Map(Object.keys(one.stateAfter).map((name) => [name, parameters.get(name)!]))
  const mode: RunMode = {
    training: one.training,
    dropoutSeed: 1,
    onBatchStatistics(update) {
      for (const [name, tensor] of [
        [update.meanName, update.mean],
        [update.varianceName, update.variance],
      ] as const) {
        const running = states.get(name)!
        keep(
          `state ${name}`,
          tf.tidy(() => running.mul(update.momentum).add(tensor.mul(1 - update.momentum))),
        )
        tensor.dispose()
        states.delete(name)
      }
    },
  }
  const trained = Object.keys(one.parameterGradients)
  const inputs = one.inputGradient === null ? [] : [input]
  const gradients = gradientsOf(one, { parameters, input, mode }, [
    ...inputs,
    ...trained.map((name) => parameters.get(name)!),
  ])
  keep('output', gradients.output)
  gradients.gradients.forEach((gradient, index) => {
    const name = index < inputs.length ? 'the input' : trained[index - inputs.length]!
    keep(`gradient of ${name}`, gradient)
  })
  for (const [name, tensor] of states) found.set(`state ${name}`, Float32Array.from(tensor.dataSync()))
  tf.dispose([input, ...parameters.values()])
  return found
}

function gradientsOf(
  one: ReferenceCase,
  run: { parameters: Parameters; input: Tensor; mode: RunMode },
  of: Tensor[],
) {
  const dy = tensorOf(one.outputGradient)
  const { value, grads } = tf
    .engine()
    .gradients(() => runLayers(one.layers, run.parameters, run.input, run.mode), of, dy)
  dy.dispose()
  return { output: value, gradients: grads }
}

/** Largest difference, relative to the largest number expected. */
export function relativeError(found: ArrayLike<number>, expected: ArrayLike<number>): number {
  let difference = 0
  let largest = 1e-12
  for (let index = 0; index < expected.length; index++) {
    difference = Math.max(difference, Math.abs(found[index]! - expected[index]!))
    largest = Math.max(largest, Math.abs(expected[index]!))
  }
  return found.length === expected.length ? difference / largest : Infinity
}
