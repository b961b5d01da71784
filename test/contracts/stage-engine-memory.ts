/** Contract of `StageEngine`: memory is counted, bounded and given back; calls run in order. */
import { describe, expect, it } from 'vitest'
import type { StageEngine } from '../../main/core/ports.ts'
import {
  type Engines,
  begin,
  bitsOf,
  convolutional,
  linear,
  microBatchOf,
  setupOf,
  valuesOf,
} from './stage-engine-models.ts'

const optimizer = { type: 'adamw', learningRate: 0.01 }
const held = async (engine: StageEngine) => {
  const { tensors, bytes } = await engine.memory()
  return { tensors, bytes }
}

export function memorySentences(engines: Engines): void {
  describe('when memory is counted', () => {
    it('stays flat over 200 steps with three micro-batches in flight, and gives all back', async () => {
      const [engine] = engines()
      await begin(engine, setupOf(linear(3), { layers: [0, 1], optimizer }))
      const forward = (microBatch: number) =>
        engine.forward({ microBatch, input: valuesOf([2, 3], microBatch), predictUpdates: microBatch % 3 })
      for (const microBatch of [0, 1, 2]) await forward(microBatch)
      const counts: object[] = []
      for (let step = 0; step < 200; step++) {
        await engine.backward(step, valuesOf([2, 1], step))
        if (step % 2 === 1) await engine.update()
        await forward(step + 3)
        if (step >= 20 && step % 6 === 5) counts.push(await held(engine))
      }
      expect(new Set(counts.map((count) => JSON.stringify(count))).size).toBe(1)
      await engine.unload()
      expect(await engine.memory()).toEqual({ tensors: 0, bytes: 0, peakBytes: 0 })
    })

    it('remembers the peak within operations since it was loaded', async () => {
      const [engine] = engines()
      await begin(engine, setupOf(convolutional))
      const before = await engine.memory()
      const { input, labels } = microBatchOf(convolutional, 1)
      await engine.forwardLoss({ microBatch: 0, input, labels, predictUpdates: 0 })
      const after = await engine.memory()
      expect(after.peakBytes).toBeGreaterThan(after.bytes)
      expect(after.peakBytes).toBeGreaterThan(before.peakBytes)
      await engine.infer(input)
      expect((await engine.memory()).peakBytes).toBe(after.peakBytes)
      await begin(engine, setupOf(convolutional))
      expect(await engine.memory()).toEqual(before)
    })

    it('refuses a stage beyond the budget, and the engine takes a smaller one', async () => {
      const [engine] = engines()
      const load = (memoryBudgetBytes: number) =>
        engine.load(setupOf(convolutional, { optimizer, memoryBudgetBytes }))
      await expect(load(1000)).rejects.toMatchObject({ kind: 'out-of-resource', code: 'device-memory' })
      expect(await engine.memory()).toMatchObject({ tensors: 0, bytes: 0 })
      await load(1e6)
    })

    it('stops an operation beyond the budget, leaves nothing of it, and goes on', async () => {
      const [engine] = engines()
      const trainOn = (samples: number, microBatch: number) =>
        engine.forwardLoss({
          microBatch,
          input: valuesOf([samples, 6, 6, 2], 1),
          labels: { dtype: 'int32', shape: [samples], data: new Int32Array(samples) },
          predictUpdates: 0,
        })
      await begin(engine, setupOf(convolutional, { optimizer }))
      await trainOn(2, 0)
      const budget = (await engine.memory()).peakBytes
      const setup = setupOf(convolutional, { optimizer, memoryBudgetBytes: budget })
      await begin(engine, setup)
      const before = { held: await held(engine), state: bitsOf((await engine.readState([0, 8])).values) }
      const refused = { kind: 'out-of-resource', code: 'device-memory' }
      await expect(trainOn(40, 0)).rejects.toMatchObject(refused)
      expect(await held(engine)).toEqual(before.held)
      expect(bitsOf((await engine.readState([0, 8])).values)).toBe(before.state)
      await trainOn(2, 0)
      expect((await engine.update()).applied).toBe(true)
    })
  })

  it('runs calls in the order made, without being awaited', async () => {
    const [engine] = engines()
    await engine.load(setupOf(linear(1), { layers: [0, 1] }))
    const write = (value: number) => engine.writeState({ layers: [0, 1], values: Float32Array.of(value) })
    const read = async () => (await engine.readState([0, 1])).values[0]
    const results = await Promise.all([write(1), read(), write(2), engine.backward(9, valuesOf([1, 1], 1)).catch(() => 'refused'), read()]) // prettier-ignore
    expect(results).toEqual([undefined, 1, undefined, 'refused', 2])
  })
}
