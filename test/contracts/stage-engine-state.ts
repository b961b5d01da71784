/** Contract of `StageEngine`: numbers in and out. */
import { describe, expect, it } from 'vitest'
import type { LayerRange } from '../../shared/model/graph.ts'
import { layoutOfGraph, stateLayout } from '../../shared/model/layout.ts'
import {
  type Engines,
  begin,
  bitsOf,
  convolutional,
  microBatchOf,
  setupOf,
  valuesOf,
} from './stage-engine-models.ts'

const ranges: readonly LayerRange[] = [[0, 8], [0, 1], [1, 4], [3, 4], [2, 3], [6, 8]] // prettier-ignore
const lengthOf = (layers: LayerRange) => stateLayout(layoutOfGraph(convolutional), layers).length

export function stateSentences(engines: Engines): void {
  describe('when its numbers are read and written', () => {
    it('holds zeros after it is loaded', async () => {
      const [engine] = engines()
      await engine.load(setupOf(convolutional))
      expect((await engine.readState([0, 8])).values).toEqual(new Float32Array(lengthOf([0, 8])))
    })

    it('gives back what was written, for any run of its layers, and leaves the others', async () => {
      const [engine] = engines()
      await begin(engine, setupOf(convolutional))
      for (const [seed, layers] of ranges.entries()) {
        const others = ranges.filter(([from, to]) => to <= layers[0] || from >= layers[1])
        const read = () =>
          Promise.all(others.map(async (range) => bitsOf((await engine.readState(range)).values)))
        const before = await read()
        const values = valuesOf([lengthOf(layers)], seed).data as Float32Array
        await engine.writeState({ layers, values })
        expect(await engine.readState(layers)).toEqual({ layers, values })
        expect(await read()).toEqual(before)
      }
    })

    it('keeps its copy to itself: changing what was given or got changes nothing', async () => {
      const [engine] = engines()
      const values = (await begin(engine, setupOf(convolutional))).slice()
      const before = bitsOf(values)
      await engine.writeState({ layers: [0, 8], values })
      values.fill(9)
      const got = await engine.readState([0, 8])
      expect(bitsOf(got.values)).toBe(before)
      got.values.fill(9)
      const { input, labels } = microBatchOf(convolutional, 1)
      const [tally] = [await engine.judge(input, labels)]
      expect(bitsOf((await engine.readState([0, 8])).values)).toBe(before)
      expect(await engine.judge(input, labels)).toEqual(tally)
    })

    it('adds mean − copy, so that an update made meanwhile survives', async () => {
      const [engine] = engines()
      await begin(engine, setupOf(convolutional, { optimizer: { type: 'sgd', learningRate: 0.125 } }))
      const layers: LayerRange = [3, 8]
      const copy = (await engine.readState(layers)).values
      await engine.forwardLoss({ microBatch: 0, ...microBatchOf(convolutional, 1), predictUpdates: 0 })
      await engine.update()
      const updated = (await engine.readState(layers)).values
      expect(bitsOf(updated)).not.toBe(bitsOf(copy))
      const mean = valuesOf([copy.length], 4).data as Float32Array
      const difference = mean.map((value, at) => value - copy[at]!)
      await engine.addToState({ layers, values: difference })
      const wanted = updated.map((value, at) => value + difference[at]!)
      expect(bitsOf((await engine.readState(layers)).values)).toBe(bitsOf(wanted))
    })

    it('leaves the weights of a micro-batch in flight as they were', async () => {
      const [engine] = engines()
      const layers: LayerRange = [0, 4]
      const { input } = microBatchOf(convolutional, 1)
      const gradient = valuesOf([3, 6, 6, 4], 2)
      await begin(engine, setupOf(convolutional, { layers }))
      await engine.forward({ microBatch: 0, input, predictUpdates: 0 })
      await engine.forward({ microBatch: 1, input, predictUpdates: 0 })
      await engine.backward(0, gradient)
      const quiet = await engine.update()
      await engine.writeState({ layers: [0, 1], values: new Float32Array(lengthOf([0, 1])) })
      await engine.backward(1, gradient)
      expect(await engine.update()).toEqual(quiet)
    })
  })
}
