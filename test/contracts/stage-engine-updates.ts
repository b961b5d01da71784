/** Contract of `StageEngine`: optimizers as PyTorch has them, clipping, prediction. */
import { describe, expect, it } from 'vitest'
import type { StageEngine } from '../../main/core/ports.ts'
import { floatTensor } from '../../shared/tensor.ts'
import {
  type Engines,
  begin,
  bitsOf,
  gap,
  linear,
  setupOf,
  valuesOf,
  type Wanted,
} from './stage-engine-models.ts'

const one = floatTensor(Float32Array.of(1), [1, 1])
const layers = [0, 1] as const

/** Numbers of the first layer of `linear`. */
const weightsOf = async (engine: StageEngine) => (await engine.readState(layers)).values

/** Give the first layer of `linear` exactly this gradient: input × 1. */
async function push(engine: StageEngine, gradient: readonly number[], microBatch = 0, predictUpdates = 0) {
  const input = floatTensor(Float32Array.from(gradient), [1, gradient.length])
  const output = await engine.forward({ microBatch, input, predictUpdates })
  await engine.backward(microBatch, one)
  return output.data[0]!
}

async function start(engine: StageEngine, weights: readonly number[], wanted: Wanted) {
  await engine.load(setupOf(linear(weights.length), { ...wanted, layers }))
  await engine.writeState({ layers, values: Float32Array.from(weights) })
}

const gradients = [
  [1, -0.5, 0.3],
  [-0.5, 0.25, 0.1],
  [0.25, 2, -0.7],
  [2, 1, 0.05],
]
const first = [1, -2, 0.5]

/** Settings of the double-precision optimizers below. */
const [rate, decay, beta1, beta2, epsilon] = [0.1, 0.05, 0.9, 0.99, 1e-6]
const norm = (values: readonly number[]) => Math.hypot(...values)
const sum = (a: readonly number[], b: readonly number[], scale = 1) =>
  a.map((value, at) => value + scale * b[at]!)

/** Moments of Adam after each gradient, corrected, and where they point. */
function adamWays(each: readonly (readonly number[])[]) {
  let m = each[0]!.map(() => 0)
  let v = m
  return each.map((g, index) => {
    m = m.map((value, at) => beta1 * value + (1 - beta1) * g[at]!)
    v = v.map((value, at) => beta2 * value + (1 - beta2) * g[at]! ** 2)
    const [c1, c2] = [1 - beta1 ** (index + 1), 1 - beta2 ** (index + 1)]
    return m.map((value, at) => value / c1 / (Math.sqrt(v[at]! / c2) + epsilon))
  })
}

const adam = { beta1, beta2, epsilon, learningRate: rate, weightDecay: decay }

/** name, settings, and the weights after all gradients by a loop in double precision. */
const optimizers: readonly [string, object, () => number[]][] = [
  ['SGD with momentum and decay', { type: 'sgd', learningRate: rate, momentum: 0.8, weightDecay: decay }, () => sgd(false)],
  ['SGD with Nesterov momentum', { type: 'sgd', learningRate: rate, momentum: 0.8, weightDecay: decay, nesterov: true }, () => sgd(true)],
  ['AdamW', { ...adam, type: 'adamw' }, () => adamWays(gradients).reduce((w, way) => sum(w.map((value) => value * (1 - rate * decay)), way, -rate), first)],
  ['LAMB', { ...adam, type: 'lamb' }, () => adamWays(gradients).reduce((w, way) => {
    const r = sum(way, w, decay)
    return sum(w, r, (-rate * norm(w)) / norm(r))
  }, first)],
  ['Adam with decay in the gradient', { ...adam, type: 'adam' }, adamL2],
] // prettier-ignore

function sgd(nesterov: boolean): number[] {
  let [w, velocity] = [first, first.map(() => 0)]
  for (const given of gradients) {
    const g = sum(given, w, decay)
    velocity = sum(g, velocity, 0.8)
    w = sum(w, nesterov ? sum(g, velocity, 0.8) : velocity, -rate)
  }
  return w
}

function adamL2(): number[] {
  const seen: number[][] = []
  return gradients.reduce((w, g) => {
    seen.push(sum(g, w, decay))
    return sum(w, adamWays(seen).at(-1)!, -rate)
  }, first)
}

export function updateSentences(engines: Engines): void {
  describe('when it updates', () => {
    it("moves as Adam's golden values say", async () => {
      const [engine] = engines()
      await start(engine, [1], { optimizer: { type: 'adam', learningRate: 0.1 } })
      const path: number[] = []
      for (const gradient of [1, -0.5, 0.25, 2, 1, -0.5, 0.25, 2]) {
        await push(engine, [gradient])
        await engine.update()
        path.push((await weightsOf(engine))[0]!)
      }
      const golden = [0.900000001, 0.873366297, 0.839323383, 0.775034192, 0.703464763, 0.653172779, 0.604534475, 0.540245284] // prettier-ignore
      expect(gap(path, golden)).toBeLessThan(1e-6)
    })

    it.each(optimizers)('moves as %s in double precision', async (_name, optimizer, wanted) => {
      const [engine] = engines()
      await start(engine, first, { optimizer })
      for (const gradient of gradients) {
        await push(engine, gradient)
        await engine.update()
      }
      expect(gap(await weightsOf(engine), wanted())).toBeLessThan(1e-6)
    })

    it('takes the mean over the micro-batches gathered, and then forgets them', async () => {
      const [engine] = engines()
      await start(engine, first, {})
      for (const [microBatch, gradient] of gradients.entries()) await push(engine, gradient, microBatch)
      const mean = gradients.reduce((total, gradient) => sum(total, gradient, 1 / 4), [0, 0, 0])
      const result = await engine.update()
      expect(result.applied).toBe(true)
      expect(result.gradientNorm).toBeCloseTo(norm(mean), 6)
      expect(gap(await weightsOf(engine), sum(first, mean, -1))).toBeLessThan(1e-6)
      await expect(engine.update()).rejects.toMatchObject({ code: 'invariant' })
    })

    it('clips the mean gradient to a norm, and tells the norm before', async () => {
      const [engine] = engines()
      await start(engine, first, { clipNorm: 0.5 })
      await push(engine, [3, 0, 4])
      await push(engine, [3, 0, 4], 1)
      expect((await engine.update()).gradientNorm).toBeCloseTo(5, 5)
      expect(gap(await weightsOf(engine), sum(first, [0.3, 0, 0.4], -1))).toBeLessThan(1e-6)
      await push(engine, [0.3, 0, 0])
      await engine.update()
      expect(gap(await weightsOf(engine), sum(first, [0.6, 0, 0.4], -1))).toBeLessThan(1e-6)
    })

    it('follows the schedule', async () => {
      const [engine] = engines()
      await start(engine, [1], {
        learningRate: { type: 'step', warmupUpdates: 1, everyUpdates: 2, factor: 0.5 },
      })
      for (let update = 0; update < 3; update++) {
        await push(engine, [0.25])
        await engine.update()
      }
      expect((await weightsOf(engine))[0]).toBe(1 - 0.25 * (0.5 + 1 + 0.5))
    })

    it.each([NaN, Infinity])('drops a gradient that holds %s, and applies the next', async (bad) => {
      const [engine] = engines()
      await start(engine, first, { optimizer: { type: 'adamw', learningRate: 0.1 } })
      await push(engine, gradients[0]!)
      await push(engine, [1, bad, 1], 1)
      const [before, memory] = [bitsOf(await weightsOf(engine)), await engine.readOptimizer()]
      expect((await engine.update()).applied).toBe(false)
      expect(bitsOf(await weightsOf(engine))).toBe(before)
      expect(await engine.readOptimizer()).toEqual(memory)
      await push(engine, gradients[1]!)
      expect(await engine.update()).toMatchObject({ applied: true })
      expect([...(await weightsOf(engine))].every(Number.isFinite)).toBe(true)
    })
  })

  describe('when it predicts', () => {
    const input = valuesOf([1, 3], 9)
    /** Output at given weights: their product with the input. */
    const outputAt = (weights: readonly number[]) =>
      weights.reduce((total, value, at) => total + value * input.data[at]!, 0)
    const ahead = 3
    const velocity = sum(gradients[1]!, gradients[0]!, 0.8)
    const way = () => adamWays(gradients.slice(0, 2)).at(-1)!
    const rules: readonly [string, object, (w: readonly number[]) => readonly number[]][] = [
      ['plain SGD stays', { type: 'sgd', learningRate: rate }, (w) => w],
      ['SGD along its velocity', { type: 'sgd', learningRate: rate, momentum: 0.8 }, (w) => sum(w, velocity, -ahead * rate)],
      ['AdamW along its moments', { ...adam, type: 'adamw' }, (w) => sum(w, way(), -ahead * rate)],
      ['LAMB along its moments at its trust ratio', { ...adam, type: 'lamb' }, (w) =>
        sum(w, way(), (-ahead * rate * norm(w)) / norm(sum(way(), w, decay)))],
    ] // prettier-ignore

    it.each(rules)('%s', async (_name, optimizer, predicted) => {
      const [engine] = engines()
      await start(engine, first, { optimizer })
      for (const gradient of gradients.slice(0, 2)) {
        await push(engine, gradient)
        // A prediction of the same reach before the update must not be taken for one after it.
        await engine.forward({ microBatch: 5, input, predictUpdates: ahead })
        await engine.discard(5)
        await engine.update()
        await engine.forward({ microBatch: 5, input, predictUpdates: ahead })
        await engine.discard(5)
      }
      const weights = [...(await weightsOf(engine))]
      for (const microBatch of [0, 1]) {
        const output = await engine.forward({ microBatch, input, predictUpdates: ahead })
        expect(output.data[0]).toBeCloseTo(outputAt(predicted(weights)), 5)
      }
      const now = await engine.forward({ microBatch: 2, input, predictUpdates: 0 })
      expect(now.data[0]).toBeCloseTo(outputAt(weights), 5)
      const written = weights.map((value) => value + 2)
      await engine.writeState({ layers, values: Float32Array.from(written) })
      const after = await engine.forward({ microBatch: 3, input, predictUpdates: ahead })
      expect(after.data[0]).toBeCloseTo(outputAt(predicted(written)), 5)
    })

    it('takes the gradient at the predicted weights and applies it to the newest', async () => {
      const [engine] = engines()
      const optimizer = { type: 'sgd', learningRate: rate, momentum: 0.8 }
      await engine.load(setupOf(linear(3), { optimizer }))
      const head = [0.5, -1]
      const values = Float32Array.from([...first, ...head])
      await engine.writeState({ layers: [0, 2], values })
      const labels = { dtype: 'int32' as const, shape: [1], data: Int32Array.of(1) }
      /** The gradient of the whole model by hand: h = x·w, z = h·u, p = softmax(z). */
      const slope = (w: readonly number[]) => {
        const h = outputAt(w.slice(0, 3))
        const u = w.slice(3)
        const powers = u.map((value) => Math.exp(value * h))
        const dz = powers.map((power, at) => power / (powers[0]! + powers[1]!) - (at === 1 ? 1 : 0))
        const dh = dz[0]! * u[0]! + dz[1]! * u[1]!
        return [...Array.from(input.data, (x) => x * dh), ...dz.map((value) => value * h)]
      }
      let w: number[] = [...values]
      let v = w.map(() => 0)
      for (const predictUpdates of [0, 2, 1]) {
        const at = sum(w, v, -predictUpdates * rate)
        v = sum(slope(at), v, 0.8)
        w = sum(w, v, -rate)
        await engine.forwardLoss({ microBatch: 0, input, labels, predictUpdates })
        await engine.update()
      }
      expect(gap((await engine.readState([0, 2])).values, w)).toBeLessThan(1e-6)
    })
  })

  it('goes on from the memory of another bit for bit', async () => {
    const [engine, other] = engines()
    const wanted = { optimizer: { type: 'adamw', learningRate: 0.1 } }
    const setup = setupOf(linear(3), { ...wanted, layers })
    await begin(engine, setup)
    await push(engine, gradients[0]!)
    await engine.update()
    await other.load(setup)
    await other.writeState(await engine.readState(layers))
    await other.writeOptimizer(await engine.readOptimizer())
    for (const each of [engine, other]) {
      await push(each, gradients[1]!, 1, 2)
      await each.update()
    }
    expect(bitsOf(await weightsOf(other))).toBe(bitsOf(await weightsOf(engine)))
    expect(await other.readOptimizer()).toEqual(await engine.readOptimizer())
    const wrong = { updates: 1, moments: [new Float32Array(3)] }
    await expect(other.writeOptimizer(wrong)).rejects.toMatchObject({ code: 'invalid-input' })
  })
}
