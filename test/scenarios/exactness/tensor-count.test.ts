import * as tf from '@tensorflow/tfjs'
import { describe, expect, it } from 'vitest'
import { openEngines } from './engines.ts'
import { convolutional, transformer } from './models.ts'
import { adamw, createPool, validationSamples } from './pool.ts'

const held = () => {
  const { numTensors, numBytes } = tf.memory()
  return { numTensors, numBytes }
}

describe('the tensors of a whole cluster on tfjs wasm', () => {
  const opened = openEngines('wasm', 3)

  it.each([
    ['convolutions and batch norm', convolutional],
    ['embeddings, layer norm and attention', transformer],
  ] as const)(
    'are as many after every one of 200 micro-batches as before the first, whenever the cluster is empty: %s',
    async (_what, { graph, cuts }) => {
      const nothing = await emptied(opened.engines)
      const schedule = { optimizer: adamw, accumulate: 1, inFlight: 4, staleness: 'predict', targetUpdates: 200 } as const // prettier-ignore
      const pool = await createPool(opened.engines, { ...schedule, graph, cuts: [cuts[3]], seed: 8 })
      const [root] = pool.roots
      const before = held()
      const counts: object[] = []
      pool.start()
      while (root!.progress().updates < 200) {
        await pool.clock.advance(120)
        void root!.evaluate(validationSamples)
        expect(await pool.clock.runUntil(root!.hold())).toBe('held')
        counts.push(held())
        root!.proceed()
      }
      await pool.train()
      expect(root!.stats().maxStaleness).toBeGreaterThan(1)
      expect(counts.length).toBeGreaterThan(10)
      expect(new Set([...counts, held()].map((count) => JSON.stringify(count)))).toEqual(new Set([JSON.stringify(before)])) // prettier-ignore
      expect(before.numTensors).toBeGreaterThan(nothing.numTensors)
      expect(await emptied(opened.engines)).toEqual(nothing)
    },
  )
})

async function emptied(engines: readonly { unload(): Promise<void> }[]) {
  await Promise.all(engines.map((engine) => engine.unload()))
  return held()
}
