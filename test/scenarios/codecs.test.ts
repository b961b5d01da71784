/** The digits on three stages learn as much over int8 borders as over float32 ones. */
import { afterAll, expect, it } from 'vitest'
import { resolveModel } from '../../main/agent/models.ts'
import { createWasmEngine } from '../../main/edge/engine/wasm/stage-engine.ts'
import type { Codec } from '../../shared/codec/codec.ts'
import { digits, lossAfter } from '../measures/coded-run.ts'

// Narrow kernels: the same bits on every machine.
const engines = [0, 1, 2].map(() => createWasmEngine({ kernels: 'narrow', threads: 1 }))
afterAll(() => Promise.all(engines.map((engine) => engine.unload())))

const seeds = [1, 2, 3]
const cuts = [4, 8]

/** One run's loss moves by a hundredth with anything; the mean of three less. */
async function meanLoss(name: Codec): Promise<number> {
  const run = { graph: await resolveModel('digits-cnn'), cuts, codec: name, samples: digits() }
  let sum = 0
  for (const seed of seeds)
    sum += await lossAfter(engines, { ...run, microBatch: 16, updates: 60, warmupUpdates: 10, seed })
  return sum / seeds.length
}

it('ends within 1 % of the validation loss of float32', async () => {
  const exact = await meanLoss('fp32')
  expect(exact).toBeLessThan(0.3)
  expect(Math.abs((await meanLoss('int8')) / exact - 1)).toBeLessThan(0.01)
})

it('depends on the codec alone: the same run twice ends with the same loss', async () => {
  const graph = await resolveModel('digits-cnn')
  const run = {
    graph,
    cuts,
    codec: 'int8' as const,
    samples: digits(),
    microBatch: 16,
    warmupUpdates: 5,
    seed: 9,
  }
  const [first, second] = [await lossAfter(engines, { ...run, updates: 10 }), await lossAfter(engines, { ...run, updates: 10 })] // prettier-ignore
  expect(second).toBe(first)
})
