/** Contract of `StageEngine`: gradients are taken where the forward pass was. */
import { describe, expect, it } from 'vitest'
import type { StageEngine } from '../../main/core/ports.ts'
import type { LayerRange } from '../../shared/model/graph.ts'
import { layoutOfGraph, stateLayout } from '../../shared/model/layout.ts'
import { elementCount, floatTensor } from '../../shared/tensor.ts'
import { type Engines, autodiff, begin, between, bitsOf, convolutional, gap, idsOf, linear, setupOf, transformer, valuesOf } from './stage-engine-models.ts' // prettier-ignore

const trainedOf = (setup: ReturnType<typeof setupOf>, values: Float32Array) =>
  values.slice(0, stateLayout(layoutOfGraph(setup.graph), setup.layers).trainedLength)

export function gradientSentences(engines: Engines): void {
  describe('with several micro-batches in flight', () => {
    it.each([
      ['convolution and batch norm', convolutional, [0, 4] as LayerRange, [4, 6, 6, 2]],
      ['attention and layer norm', transformer, [1, 4] as LayerRange, [4, 5, 8]],
    ])('takes each gradient at the weights of its own forward: %s', async (_what, graph, layers, shape) => {
      const [engine] = engines()
      const setup = setupOf(graph, { layers, optimizer: { type: 'sgd', learningRate: 0.5 } })
      await begin(engine, setup)
      const outputShape = layoutOfGraph(graph)[layers[1] - 1]!.outputShape
      const weights = async () => (await engine.readState(layers)).values
      const passes = [0, 1, 2, 3].map((seed) => ({
        input: valuesOf(shape, seed),
        gradient: valuesOf([4, ...outputShape], seed + 50),
      }))
      const stashed: Float32Array[] = []
      const forward = async (microBatch: number) => {
        stashed[microBatch] = await weights()
        await engine.forward({ microBatch, input: passes[microBatch]!.input, predictUpdates: 0 })
      }
      /** Backward and update alone. @returns how far the trained weights moved, as a gradient */
      const moved = async (microBatch: number) => {
        const before = trainedOf(setup, await weights())
        await engine.backward(microBatch, passes[microBatch]!.gradient)
        await engine.update()
        const after = trainedOf(setup, await weights())
        return before.map((value, at) => (value - after[at]!) / 0.5)
      }
      for (const microBatch of [0, 1, 2]) await forward(microBatch)
      for (const microBatch of [0, 1, 2, 3]) {
        const wanted = autodiff(setup, stashed[microBatch]!, passes[microBatch]!)
        expect(gap(await moved(microBatch), wanted)).toBeLessThan(2e-5)
        if (microBatch === 0) await forward(3)
      }
    })

    it('repeats the mask of dropout in the backward pass, and draws another for another micro-batch', async () => {
      const [engine] = engines()
      const graph = between([{ type: 'dropout', name: 'drop', rate: 0.5 }], [64])
      await begin(engine, setupOf(graph, { layers: [1, 2] }))
      const ones = floatTensor(new Float32Array(4 * 64).fill(1), [4, 64])
      const masks: string[] = []
      for (const microBatch of [0, 1]) {
        const output = await engine.forward({ microBatch, input: ones, predictUpdates: 0 })
        const gradient = await engine.backward(microBatch, ones)
        expect(gradient!.data).toEqual(output.data)
        expect(new Set(output.data)).toEqual(new Set([0, 2]))
        masks.push(bitsOf(output.data as Float32Array))
      }
      expect(masks[0]).not.toBe(masks[1])
      expect((await engine.infer(ones)).data).toEqual(ones.data)
    })

    it('forgets a discarded micro-batch', async () => {
      const [engine] = engines()
      await begin(engine, setupOf(convolutional, { layers: [0, 4] }))
      const before = await engine.memory()
      const input = valuesOf([2, 6, 6, 2], 1)
      const output = await engine.forward({ microBatch: 7, input, predictUpdates: 0 })
      expect((await engine.memory()).bytes).toBeGreaterThan(before.bytes)
      await engine.discard(7)
      expect(await engine.memory()).toMatchObject({ tensors: before.tensors, bytes: before.bytes })
      await expect(engine.backward(7, output)).rejects.toMatchObject({ kind: 'bug', code: 'invariant' })
      await engine.discard(7)
    })
  })

  describe('at the leaf', () => {
    it('has the gradient of cross-entropy that arithmetic gives, ignored labels left out', async () => {
      const [engine] = engines()
      const [classes, rows] = [7, 5]
      const graph = between([], [classes])
      await begin(engine, setupOf(graph, { layers: [1, 2] }))
      const input = floatTensor(Float32Array.from({ length: rows * classes }, (_, at) => 0.1 + ((at * 5) % 11) / 3), [rows, classes]) // prettier-ignore
      const labels = { ...idsOf([rows], classes, 2), data: Int32Array.of(3, -100, 0, 6, -100) }
      const { tally, inputGradient } = await engine.forwardLoss({
        microBatch: 0,
        input,
        labels,
        predictUpdates: 0,
      })
      const wanted = softmaxGradient(input.data, labels.data, classes)
      expect(gap(inputGradient!.data, wanted.gradient)).toBeLessThan(1e-6)
      expect(tally).toMatchObject({ labels: 3, correct: wanted.correct, correctTop5: wanted.correctTop5 })
      expect(tally.lossSum).toBeCloseTo(wanted.lossSum, 5)
    })

    it('has loss 0 and gradient 0 when every label is ignored', async () => {
      const [engine] = engines()
      await begin(engine, setupOf(between([], [4]), { layers: [1, 2] }))
      const labels = { dtype: 'int32' as const, shape: [2], data: Int32Array.of(-100, -100) }
      const result = await engine.forwardLoss({ microBatch: 0, input: valuesOf([2, 4], 1), labels, predictUpdates: 0 }) // prettier-ignore
      expect(result.tally).toEqual({ lossSum: 0, labels: 0, correct: 0, correctTop5: 0 })
      expect([...result.inputGradient!.data].every((value) => Math.abs(value) === 0)).toBe(true)
    })

    it('has the gradient of mean squared error over all elements', async () => {
      const [engine] = engines()
      const graph = between([], [3], { type: 'mean-squared-error' })
      await begin(engine, setupOf(graph, { layers: [1, 2] }))
      const input = floatTensor(Float32Array.of(1, 2, 3, 4, 5, 6), [2, 3])
      const labels = floatTensor(Float32Array.of(2, 2, 1, 4, 7, 6), [2, 3])
      const result = await engine.forwardLoss({ microBatch: 0, input, labels, predictUpdates: 0 })
      expect(result.tally).toEqual({ lossSum: 9, labels: 6, correct: 0, correctTop5: 0 })
      expect(gap(result.inputGradient!.data, [-1, 0, 2, 0, -2, 0].map((error) => error / 3))).toBeLessThan(1e-6) // prettier-ignore
    })
  })

  describe('given what does not fit', () => {
    const refused = { kind: 'bad-input', code: 'invalid-input' }
    it('refuses shapes, kinds and numbers, and changes nothing', async () => {
      const [engine] = engines()
      await begin(engine, setupOf(transformer))
      const [input, labels] = [idsOf([3, 5], 10, 1), idsOf([3, 5], 10, 2)]
      const before = { state: bitsOf((await engine.readState([0, 6])).values), memory: await engine.memory() }
      const lossOf = (given: object) =>
        engine.forwardLoss({ microBatch: 0, input, labels, predictUpdates: 0, ...given })
      await expect(lossOf({ input: idsOf([3, 4], 10, 1) })).rejects.toMatchObject(refused)
      await expect(lossOf({ input: valuesOf([3, 5], 1) })).rejects.toMatchObject(refused)
      await expect(lossOf({ input: { ...input, data: Int32Array.of(1, 2, 3) } })).rejects.toMatchObject(
        refused,
      )
      await expect(lossOf({ input: { ...input, data: input.data.map((id) => id + 10) } })).rejects.toMatchObject(refused) // prettier-ignore
      await expect(lossOf({ labels: idsOf([2, 5], 10, 1) })).rejects.toMatchObject(refused)
      await expect(lossOf({ labels: { ...labels, data: labels.data.map((id) => id + 10) } })).rejects.toMatchObject(refused) // prettier-ignore
      await expect(engine.readState([0, 7])).rejects.toMatchObject(refused)
      await expect(engine.writeState({ layers: [4, 5], values: new Float32Array(3) })).rejects.toMatchObject(refused) // prettier-ignore
      await expect(engine.update()).rejects.toMatchObject({ kind: 'bug', code: 'invariant' })
      expect(bitsOf((await engine.readState([0, 6])).values)).toBe(before.state)
      expect(await engine.memory()).toMatchObject({
        tensors: before.memory.tensors,
        bytes: before.memory.bytes,
      })
    })

    it('refuses a micro-batch that is in flight already, a gradient of another size, and work without a stage', async () => {
      const [engine] = engines()
      await begin(engine, setupOf(linear(2), { layers: [0, 1] }))
      await engine.forward({ microBatch: 1, input: valuesOf([2, 2], 1), predictUpdates: 0 })
      const again = (): Promise<unknown> =>
        engine.forward({ microBatch: 1, input: valuesOf([2, 2], 1), predictUpdates: 0 })
      await expect(again()).rejects.toMatchObject({ kind: 'bug', code: 'invariant' })
      await expect(engine.backward(1, valuesOf([3, 1], 1))).rejects.toMatchObject(refused)
      expect(await gradientAfterRefusals(engine)).toBeUndefined()
      await engine.unload()
      await expect(again()).rejects.toMatchObject({ kind: 'bug', code: 'invariant' })
    })
  })
}

/** The micro-batch that was refused a gradient still takes a right one. */
const gradientAfterRefusals = (engine: StageEngine) => engine.backward(1, valuesOf([2, 1], 1))

/** Cross-entropy in double precision. */
function softmaxGradient(logits: ArrayLike<number>, labels: ArrayLike<number>, classes: number) {
  const counted = Array.from(labels).filter((label) => label >= 0).length
  const gradient = Array.from({ length: elementCount([labels.length, classes]) }, () => 0)
  const totals = { lossSum: 0, correct: 0, correctTop5: 0 }
  for (const [row, label] of Array.from(labels).entries()) {
    if (label < 0) continue
    const values = Array.from({ length: classes }, (_, at) => logits[row * classes + at]!)
    const sum = values.reduce((total, value) => total + Math.exp(value), 0)
    for (const [at, value] of values.entries())
      gradient[row * classes + at] = (Math.exp(value) / sum - (at === label ? 1 : 0)) / counted
    totals.lossSum += Math.log(sum) - values[label]!
    totals.correct += values.indexOf(Math.max(...values)) === label ? 1 : 0
    totals.correctTop5 += values.filter((value) => value > values[label]!).length < 5 ? 1 : 0
  }
  return { gradient, ...totals }
}
