/** The memory meter against TensorFlow.js's own books. */
import * as tf from '@tensorflow/tfjs'
import { beforeAll, describe, expect, it } from 'vitest'
import { openBackend } from '../../../main/edge/engine/tfjs/backends.ts'
import { createMemoryMeter } from '../../../main/edge/engine/tfjs/memory.ts'
import { createTfjsEngine } from '../../../main/edge/engine/tfjs/stage-engine.ts'
import { begin, convolutional, microBatchOf, setupOf } from '../../contracts/stage-engine-models.ts'

beforeAll(() => openBackend('wasm'))

const floats = (count: number) => tf.zeros([count])

describe('a memory meter', () => {
  it('counts the peak of an operation to the byte, temporaries included', () => {
    const meter = createMemoryMeter(0)
    const kept = meter.run(() => {
      const first = floats(100)
      tf.tidy(() => void floats(50))
      return tf.keep(tf.add(first, floats(100)))
    })
    // 100 + 100 + their sum; the 50 were gone before.
    expect(meter.read()).toEqual({ tensors: 1, bytes: 400, peakBytes: 1200 })
    meter.settle(() => { kept.dispose() }) // prettier-ignore
    expect(meter.read()).toEqual({ tensors: 0, bytes: 0, peakBytes: 1200 })
  })

  it('agrees with the profiler of TensorFlow.js on a whole step', async () => {
    const engine = await createTfjsEngine({ backend: 'wasm' })
    await begin(engine, setupOf(convolutional))
    const { input, labels } = microBatchOf(convolutional, 1)
    const before = tf.memory().numBytes
    const held = await engine.memory()
    const profile = await tf.profile(async () => {
      await engine.forwardLoss({ microBatch: 0, input, labels, predictUpdates: 0 })
      return tf.scalar(0)
    })
    const { peakBytes } = await engine.memory()
    const atKernels = Math.max(...profile.kernels.map(({ totalBytesSnapshot }) => totalBytesSnapshot))
    expect(peakBytes).toBe(atKernels - before + held.bytes)
    await engine.unload()
  })

  it('counts each engine of a thread by itself', async () => {
    const [one, other] = await Promise.all([
      createTfjsEngine({ backend: 'wasm' }),
      createTfjsEngine({ backend: 'wasm' }),
    ])
    await begin(one, setupOf(convolutional))
    const alone = await one.memory()
    await begin(other, setupOf(convolutional))
    const { input, labels } = microBatchOf(convolutional, 1)
    await other.forwardLoss({ microBatch: 0, input, labels, predictUpdates: 0 })
    expect(await one.memory()).toEqual(alone)
    await Promise.all([one.unload(), other.unload()])
  })

  it('leaves nothing of an operation that goes beyond its budget, whatever it kept or saved for gradients', () => {
    const meter = createMemoryMeter(4000)
    const before = tf.memory()
    const work = () => {
      const x = tf.keep(floats(200))
      const { grads } = tf.engine().gradients(() => tf.sum(tf.exp(tf.exp(tf.exp(tf.exp(x))))), [x])
      return grads[0]
    }
    expect(() => meter.run(work)).toThrow(expect.objectContaining({ code: 'device-memory' }))
    expect(tf.memory()).toMatchObject({ numTensors: before.numTensors, numBytes: before.numBytes })
    expect(meter.read()).toMatchObject({ tensors: 0, bytes: 0 })
    expect(meter.run(() => tf.add(1, 2).dataSync()[0])).toBe(3)
  })
})
