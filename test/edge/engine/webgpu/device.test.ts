/** A GPU that goes, one that refuses, and one whose memory is lent in part. */
import { Worker } from 'node:worker_threads'
import * as tf from '@tensorflow/tfjs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { StageEngine } from '../../../../main/core/ports.ts'
import { createTfjsEngine } from '../../../../main/edge/engine/tfjs/stage-engine.ts'
import { probeBackend } from '../../../../main/edge/engine/tfjs/probe.ts'
import { connectEngine } from '../../../../main/edge/engine/protocol.ts'
import { begin, between, linear, setupOf, valuesOf } from '../../../contracts/stage-engine-models.ts'

const { loaded, reason } = await probeBackend('webgpu')

/** The parts of tfjs-backend-webgpu that the engine reaches into. */
interface Internals {
  readonly device: {
    destroy(): void
    createBuffer(descriptor: object): unknown
  }
  readonly bufferManager: { readonly numBytesAllocated: number; readonly numBytesUsed: number }
}
const internals = () => tf.backend() as unknown as Internals

describe.runIf(loaded)(`a GPU (${reason})`, () => {
  const setup = (memoryBudgetBytes = 0) => setupOf(linear(64), { layers: [0, 1], memoryBudgetBytes })
  const trainOn = async (engine: StageEngine, samples: number) => {
    await engine.forward({ microBatch: samples, input: valuesOf([samples, 64], 1), predictUpdates: 0 })
    await engine.backward(samples, valuesOf([samples, 1], 2))
    await engine.update()
  }

  it('that goes while a call waits fails that call and all later ones, and its engine says so by itself', async () => {
    const engine = await connectEngine(new Worker(new URL('./lossy-worker.ts', import.meta.url)))
    const gone = { kind: 'out-of-resource', code: 'device-lost' }
    await begin(engine, setup())
    await trainOn(engine, 2)
    await expect(engine.infer(valuesOf([2, 64], 1))).rejects.toMatchObject(gone)
    await expect(engine.lost).resolves.toMatchObject(gone)
    await expect(engine.memory()).rejects.toMatchObject(gone)
    await engine.stop()

    // The next thread gets a device of its own.
    const next = await connectEngine(new Worker(new URL('./lossy-worker.ts', import.meta.url)))
    await begin(next, setup())
    await trainOn(next, 2)
    await next.stop()
  })

  describe('in this thread', () => {
    let engine: StageEngine
    beforeAll(async () => {
      engine = await createTfjsEngine({ backend: 'webgpu' })
    })
    // Dawn keeps a process alive for as long as someone can reach it.
    afterAll(() => Reflect.deleteProperty(navigator, 'gpu'))

    it('that refuses a command fails the next answer, and no other', async () => {
      await begin(engine, setup())
      internals().device.createBuffer({ size: 4, usage: 0 })
      await expect(trainOn(engine, 2)).rejects.toMatchObject({ kind: 'bug', code: 'invariant' })
      await begin(engine, setup())
      await trainOn(engine, 2)
    })

    it('holds no more than is lent, however many sizes of tensors came by', async () => {
      const sizes = Array.from({ length: 25 }, (_, index) => 16 * (index + 1))
      const allocatedAfter = async (memoryBudgetBytes: number) => {
        // One pass over the numbers a size: an imitated GPU is slow at products.
        await engine.load(setupOf(between([], [64]), { layers: [0, 1], memoryBudgetBytes }))
        let most = 0
        for (const samples of sizes) {
          await engine.infer(valuesOf([samples, 64], 1))
          most = Math.max(most, internals().bufferManager.numBytesAllocated)
        }
        return most
      }
      const unlimited = await allocatedAfter(0)
      const budget = 512 * 1024
      expect(unlimited).toBeGreaterThan(2 * budget)
      expect(await allocatedAfter(budget)).toBeLessThanOrEqual(budget)
    })

    it('refuses a stage that needs more than is lent', async () => {
      await expect(engine.load(setup(100))).rejects.toMatchObject({ code: 'device-memory' })
    })

    it('that is gone refuses all calls', async () => {
      await begin(engine, setup())
      internals().device.destroy()
      await expect(trainOn(engine, 2)).rejects.toMatchObject({ code: 'device-lost' })
      await expect(engine.memory()).rejects.toMatchObject({ code: 'device-lost' })
    })
  })
})
