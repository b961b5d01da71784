/** An engine's thread whose GPU goes away at the first `infer`, as after a driver's reset: that call gets no answer. */
import { parentPort } from 'node:worker_threads'
import * as tf from '@tensorflow/tfjs'
import { createTfjsEngine } from '../../../../main/edge/engine/tfjs/stage-engine.ts'
import { serveEngine } from '../../../../main/edge/engine/protocol.ts'

await serveEngine(parentPort!, async () => {
  const engine = await createTfjsEngine({ backend: 'webgpu' })
  const infer = () => {
    const { device } = tf.backend() as unknown as { readonly device: { destroy(): void } }
    device.destroy()
    return new Promise<never>(() => undefined)
  }
  return { ...engine, infer }
})
