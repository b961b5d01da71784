/** A thousand updates leave nothing behind, whichever way a stage runs. */
import { describe, expect, it } from 'vitest'
import { createWasmEngine } from '../../../../main/edge/engine/wasm/stage-engine.ts'
import { convolutional, transformer } from '../../../contracts/stage-engine-models.ts'
import { createRounds } from '../../../measures/stage-peak.ts'

describe('a stage that trains for long', () => {
  it.each([
    ['keeping', convolutional, false],
    ['recomputing', convolutional, true],
    ['keeping', transformer, false],
    ['recomputing', transformer, true],
  ] as const)('holds the same after each of a thousand updates, %s', async (_way, graph, recompute) => {
    const engine = createWasmEngine({ kernels: 'narrow', threads: 1 })
    const layers = [0, graph.layers.length - 1] as const
    const next = await createRounds(engine, { graph, layers, microBatch: 2, inFlight: 3, recompute })
    const seen = new Set<string>()
    for (let update = 0; update < 1000; update++) {
      await next()
      // What the first rounds plan and predict from is there from then on.
      if (update >= 2) seen.add(JSON.stringify(await engine.memory()))
    }
    expect(seen.size).toBe(1)
    await engine.unload()
    expect(await engine.memory()).toEqual({ tensors: 0, bytes: 0, peakBytes: 0 })
  })
})
