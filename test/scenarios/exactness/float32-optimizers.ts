/**
 * Optimizers one number at a time, every operation rounded to float32 as a tensor backend rounds it.
 *
 * On purpose not the engine's own: sums, products, quotients and roots have one right float32 result each, which
 * Math.fround of the double gives, so plain loops can be held to its tensors bit for bit.
 * SGD with momentum, Adam and AdamW; w weight, g gradient, v velocity, m and s first and second moment.
 */
import type { Optimizer } from '../../../shared/job/recipe.ts'

const f = Math.fround

/** One parameter and what its optimizer remembers. Never changed, only replaced. */
export interface Trained {
  readonly weight: Float32Array
  readonly moments: readonly Float32Array[]
}

export function untrained(optimizer: Optimizer, weight: Float32Array): Trained {
  const zeros = () => new Float32Array(weight.length)
  return { weight, moments: optimizer.type === 'sgd' ? [zeros()] : [zeros(), zeros()] }
}

/** a·x + y */
const mixed = (x: Float32Array, a: number, y: Float32Array) =>
  x.map((value, at) => f(f(value * f(a)) + y[at]!))
const scaled = (x: Float32Array, a: number) => x.map((value) => f(value * f(a)))

/** v, or m̂ / (√ŝ + ε): the way of one unit of learning rate after so many updates. */
function direction(optimizer: Optimizer, moments: readonly Float32Array[], updates: number): Float32Array {
  const [first, second] = moments
  if (optimizer.type === 'sgd') return first!
  const one = f(1 - optimizer.beta1 ** updates)
  const root = f(Math.sqrt(1 - optimizer.beta2 ** updates))
  const epsilon = f(optimizer.epsilon)
  return first!.map((m, at) => f(f(m / one) / f(f(f(Math.sqrt(second![at]!)) / root) + epsilon)))
}

const moved = (weight: Float32Array, way: Float32Array, rate: number) =>
  weight.map((w, at) => f(w - f(way[at]! * f(rate))))

/** v ← μv + g, or m ← β₁m + (1−β₁)g, s ← β₂s + (1−β₂)g². */
function remembered(optimizer: Optimizer, [first, second]: readonly Float32Array[], g: Float32Array) {
  if (optimizer.type === 'sgd') return [mixed(first!, optimizer.momentum, g)]
  const { beta1, beta2 } = optimizer
  return [
    mixed(first!, beta1, scaled(g, 1 - beta1)),
    mixed(second!, beta2, scaled(g.map((one) => f(one * one)), 1 - beta2)), // prettier-ignore
  ]
}

/** @param update - its number from 1 */
export function stepped(
  optimizer: Optimizer,
  { weight, moments }: Trained,
  g: Float32Array,
  update: number,
): Trained {
  const { learningRate } = optimizer
  const next = remembered(optimizer, moments, g)
  const decayed =
    optimizer.type === 'adamw' ? scaled(weight, 1 - learningRate * optimizer.weightDecay) : weight
  return { weight: moved(decayed, direction(optimizer, next, update), learningRate), moments: next }
}

/** The weight after `ahead` more updates in the direction of the last. @param updates - made so far */
export function predicted(
  optimizer: Optimizer,
  { weight, moments }: Trained,
  ahead: number,
  updates: number,
): Float32Array {
  if (ahead === 0 || updates === 0) return weight
  return moved(weight, direction(optimizer, moments, updates), ahead * optimizer.learningRate)
}

/** Sum of gradients in the order given, then its mean. */
export function meanOf(gradients: readonly Float32Array[]): Float32Array {
  const sum = gradients.reduce((before, gradient) => before.map((value, at) => f(value + gradient[at]!)))
  return scaled(sum, 1 / gradients.length)
}

/** momentum·running + (1 − momentum)·batch */
export const followed = (running: Float32Array, batch: Float32Array, momentum: number): Float32Array =>
  mixed(running, momentum, scaled(batch, 1 - momentum))
