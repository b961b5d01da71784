/** The TensorFlow.js engine keeps the contract of every engine, in this thread and in its own. */
import { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import type { StageEngine } from '../../../main/core/ports.ts'
import type { BackendName } from '../../../main/edge/engine/tfjs/backend-names.ts'
import { openBackend } from '../../../main/edge/engine/tfjs/backends.ts'
import { startEngineThread } from '../../../main/edge/engine/tfjs/client.ts'
import { createTfjsEngine } from '../../../main/edge/engine/tfjs/stage-engine.ts'
import { type EngineThread, connectEngine } from '../../../main/edge/engine/protocol.ts'
import { stageEngineContract } from '../../contracts/stage-engine.ts'
import { begin, linear, setupOf, valuesOf } from '../../contracts/stage-engine-models.ts'

const backends: readonly BackendName[] = ['wasm', 'cpu']

for (const backend of backends) {
  const prepareOracle = () => openBackend(backend)
  stageEngineContract({
    name: `${backend}, in this thread`,
    open: () => createTfjsEngine({ backend }),
    close: (engine) => engine.unload(),
    prepareOracle,
  })
  stageEngineContract({
    name: `${backend}, in a thread of its own`,
    open: () => startEngineThread({ backend }),
    close: (engine) => (engine as EngineThread).stop(),
    prepareOracle,
  })
}

describe("an engine's thread", () => {
  const ready = async (): Promise<EngineThread> => {
    const engine = await startEngineThread({ backend: 'cpu' })
    await begin(engine, setupOf(linear(3), { layers: [0, 1] }))
    return engine
  }
  const forward = (engine: StageEngine, input = valuesOf([2, 3], 1)) =>
    engine.forward({ microBatch: 0, input, predictUpdates: 0 })

  it('rejects what waits and what comes after when it is stopped', async () => {
    const engine = await ready()
    const waiting = forward(engine).then(
      () => 'answered',
      (thrown: unknown) => thrown,
    )
    await engine.stop()
    expect(await waiting).toMatchObject({ kind: 'aborted', code: 'aborted' })
    await expect(engine.memory()).rejects.toMatchObject({ kind: 'aborted' })
  })

  it('rejects what waits with a typed error when its thread dies', async () => {
    const worker = new Worker(new URL('../../../main/edge/engine/tfjs/worker.ts', import.meta.url), {
      workerData: { backend: 'cpu' },
    })
    const engine = await connectEngine(worker)
    const waiting = forward(engine).catch((thrown: unknown) => thrown)
    // Not through the engine: the thread is simply gone.
    await worker.terminate()
    expect(await waiting).toMatchObject({ kind: 'bug', code: 'engine-died' })
    await expect(engine.memory()).rejects.toMatchObject({ code: 'engine-died' })
  })

  it('leaves the tensors of its caller usable, whole arrays and views alike', async () => {
    const engine = await ready()
    const whole = valuesOf([2, 3], 1)
    const buffer = new Float32Array(1000)
    buffer.set(whole.data, 10)
    const view = { ...whole, data: buffer.subarray(10, 16) }
    const outputs = []
    for (const input of [whole, view]) {
      outputs.push((await forward(engine, input)).data)
      await engine.discard(0)
    }
    expect(outputs[0]).toEqual(outputs[1])
    expect([whole.data.length, view.data.length, buffer.length]).toEqual([6, 6, 1000])
    await engine.stop()
  })

  it('says why a backend does not open', async () => {
    const starting = startEngineThread({ backend: 'node-gpu' })
    await expect(starting).rejects.toMatchObject({ kind: 'bad-input', code: 'invalid-input' })
  })
})
