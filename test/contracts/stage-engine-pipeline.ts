/** Contract of `StageEngine`: stages in a row are one model. */
import { describe, expect, it } from 'vitest'
import type { StageEngine } from '../../main/core/ports.ts'
import type { LayerRange, ModelGraph, Tally } from '../../shared/model/graph.ts'
import { floatTensor } from '../../shared/tensor.ts'
import {
  type Engines,
  begin,
  between,
  bitsOf,
  convolutional,
  gap,
  microBatchOf,
  setupOf,
  transformer,
} from './stage-engine-models.ts'

const optimizer = { type: 'adamw', learningRate: 0.01 }

/** One micro-batch through a row of stages with one credit. */
async function trainOn(row: readonly StageEngine[], graph: ModelGraph, microBatch: number): Promise<Tally> {
  const { input, labels } = microBatchOf(graph, microBatch)
  let x = input
  for (const engine of row.slice(0, -1)) x = await engine.forward({ microBatch, input: x, predictUpdates: 0 })
  const leaf = await row.at(-1)!.forwardLoss({ microBatch, input: x, labels, predictUpdates: 0 })
  let dy = leaf.inputGradient
  for (const engine of row.slice(0, -1).reverse()) dy = await engine.backward(microBatch, dy!)
  expect(dy).toBeUndefined()
  return leaf.tally
}

/** Train a model cut at these places. @returns tallies and the numbers of each range of `readAs` */
async function train(engines: readonly StageEngine[], graph: ModelGraph, cuts: readonly number[]) {
  const ends = [0, ...cuts, graph.layers.length]
  const ranges = ends.slice(1).map((end, stage): LayerRange => [ends[stage]!, end])
  const row = engines.slice(0, ranges.length)
  for (const [stage, layers] of ranges.entries())
    await begin(row[stage]!, setupOf(graph, { layers, optimizer }))
  const tallies: Tally[] = []
  for (let update = 0; update < 4; update++) {
    for (const half of [0, 1]) tallies.push(await trainOn(row, graph, 2 * update + half))
    for (const engine of row) expect((await engine.update()).applied).toBe(true)
  }
  return { row, ranges, tallies }
}

export function pipelineSentences(engines: Engines): void {
  describe('in a row of stages with one credit', () => {
    it.each([
      ['convolutions, batch norm and dropout', convolutional, [3, 6]],
      ['embeddings, layer norm and attention', transformer, [2, 4]],
    ])('equals one stage bit for bit: %s', async (_what, graph, cuts) => {
      const cut = await train(engines(), graph, cuts)
      const parts = await Promise.all(
        cut.row.map(async (engine, stage) => bitsOf((await engine.readState(cut.ranges[stage]!)).values)),
      )
      const whole = await train(engines(), graph, [])
      const same = await Promise.all(
        cut.ranges.map(async (layers) => bitsOf((await whole.row[0]!.readState(layers)).values)),
      )
      expect(parts).toEqual(same)
      expect(cut.tallies).toEqual(whole.tallies)
    })

    it('learns: the loss of a repeated micro-batch falls below a tenth', async () => {
      const [engine] = engines()
      await begin(engine, setupOf(transformer, { optimizer: { type: 'adamw', learningRate: 0.02 } }))
      const losses: number[] = []
      for (let update = 0; update < 60; update++) {
        const { input, labels } = microBatchOf(transformer, 1)
        const { tally } = await engine.forwardLoss({ microBatch: update, input, labels, predictUpdates: 0 })
        losses.push(tally.lossSum / tally.labels)
        await engine.update()
      }
      expect(losses.at(-1)! / losses[0]!).toBeLessThan(0.1)
    })

    it('infers and judges as the running statistics say, and keeps nothing of it', async () => {
      const [engine] = engines()
      const setup = setupOf(convolutional)
      await begin(engine, setup)
      const { input, labels } = microBatchOf(convolutional, 3)
      const before = await engine.memory()
      const logits = await engine.infer(input)
      const tally = await engine.judge(input, labels)
      expect(bitsOf(logits.data as Float32Array)).toBe(
        bitsOf((await engine.infer(input)).data as Float32Array),
      )
      const losses = Array.from(labels.data, (label, row) => {
        const values = Array.from(logits.data.slice(row * 5, row * 5 + 5))
        return Math.log(values.reduce((sum, value) => sum + Math.exp(value), 0)) - values[label]!
      })
      expect(tally.lossSum).toBeCloseTo(
        losses.reduce((sum, loss) => sum + loss, 0),
        4,
      )
      expect(tally).toMatchObject({ labels: 3, correctTop5: 3 })
      expect(await engine.memory()).toMatchObject({ tensors: before.tensors, bytes: before.bytes })
    })

    it('lets running statistics follow a micro-batch once, not again when the backward pass repeats it', async () => {
      const [engine] = engines()
      const layers: LayerRange = [1, 2]
      const graph = between([{ type: 'batch-norm', name: 'norm', momentum: 0.75 }], [2])
      await begin(engine, setupOf(graph, { layers }))
      const input = floatTensor(Float32Array.of(1, 10, 2, 20, 6, 60), [3, 2])
      /** Scale, shift, running mean and variance of two channels; only the running ones are of interest. */
      const running = async () => [...(await engine.readState(layers)).values.slice(4)]
      expect(await running()).toEqual([0, 0, 1, 1])
      // Means 3 and 30; unbiased variances 7 and 700.
      const once = [3 / 4, 30 / 4, (3 + 7) / 4, (3 + 700) / 4]
      await engine.forward({ microBatch: 0, input, predictUpdates: 0 })
      expect(gap(await running(), once)).toBeLessThan(1e-6)
      await engine.backward(0, input)
      await engine.update()
      expect(gap(await running(), once)).toBeLessThan(1e-6)
    })
  })
}
