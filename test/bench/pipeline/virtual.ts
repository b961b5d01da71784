/** Three equal stages on the virtual clock: the real core, engines that wait, links that take a millisecond. */
import { createStage } from '../../../main/core/pipeline/stage.ts'
import { createBatchOrder } from '../../../main/core/pipeline/order.ts'
import type { BatchSource } from '../../../main/core/ports.ts'
import { modelGraph, type LayerRange } from '../../../shared/model/graph.ts'
import { floatTensor } from '../../../shared/tensor.ts'
import { createVirtualClock } from '../../fakes/clock.ts'
import { createFakeNetwork } from '../../fakes/links.ts'
import { createWaitingEngine } from '../waiting-engine.ts'

const job = '0'.repeat(64)
const peers = ['root', 'middle', 'leaf']
const samples = 4
const width = 2
const computeMs = 30
const trainSamples = 1024
const updates = 60
const accumulate = 6

const graph = modelGraph.parse({
  format: 'rookery-model/1',
  name: 'three-stages',
  task: 'classify',
  input: { type: 'values', shape: [width] },
  layers: peers.map((name) => ({ type: 'dense', name, units: width })),
  loss: { type: 'cross-entropy' },
})

const batches: BatchSource = {
  inputs: () => Promise.resolve(floatTensor(new Float32Array(samples * width), [samples, width])),
  labels: () => Promise.resolve({ dtype: 'int32', shape: [samples], data: new Int32Array(samples) }),
}

/** Milliseconds of virtual time to train; the same micro-batches for any number of credits. */
export async function virtualMs(inFlight: number): Promise<number> {
  const clock = createVirtualClock()
  const network = createFakeNetwork({ clock, delayMs: [1, 1] })
  const stages = peers.map((peer, stage) => {
    const links = network.linksOf(peer)
    const inputWidth = stage === 0 ? undefined : width
    const engine = createWaitingEngine(clock, { samples, inputWidth, outputWidth: width, computeMs })
    const one = createStage(
      { links, clock, batches, engine, log: () => undefined },
      {
        ...{ job, planNumber: 1, position: { cluster: 0, stage }, stages: peers, graph },
        ...{ layers: [stage, stage + 1] as LayerRange, microBatch: samples, accumulate, inFlight },
        order: createBatchOrder({ seed: 1, trainSamples, microBatch: samples, share: { index: 0, of: 1 } }),
        ...{ staleness: 'none' as const, trainSamples, validationSamples: 0, targetUpdates: updates },
      },
    )
    links.onMessage(({ peer: from }, message) => {
      one.deliver(from, message)
    })
    return one
  })
  stages[0]?.start()
  await clock.runUntil(Promise.all(stages.map(({ finished }) => finished)))
  return clock.now()
}
