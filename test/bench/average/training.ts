/** Two small clusters of two stages: in one this member is the root, in the other the leaf. Their engines only wait. */
import { createStage, type Stage } from '../../../main/core/pipeline/stage.ts'
import { createBatchOrder } from '../../../main/core/pipeline/order.ts'
import type { BatchSource, Clock } from '../../../main/core/ports.ts'
import type { JobLinks } from '../../../main/edge/swarm/swarm.ts'
import type { PeerId } from '../../../shared/ids.ts'
import type { WireMessage } from '../../../shared/messages/wire.ts'
import { modelGraph, type LayerRange } from '../../../shared/model/graph.ts'
import { floatTensor } from '../../../shared/tensor.ts'
import { createWaitingEngine } from '../waiting-engine.ts'
import type { Training } from './orders.ts'

export interface RunningTraining {
  deliver(from: PeerId, message: WireMessage): void
  /** Micro-batches of our own cluster that came back. */
  returned(): number
  stop(): Promise<void>
}

interface Places {
  readonly links: JobLinks
  readonly clock: Clock
  /** The leaf of our own cluster, and the root of the one whose leaf we are. */
  readonly leaf: PeerId
  readonly root: PeerId
}

const samples = 4
const trainSamples = 4096

const graphOf = (width: number) =>
  modelGraph.parse({
    format: 'rookery-model/1',
    name: 'two-stages',
    task: 'classify',
    input: { type: 'values', shape: [1] },
    layers: [
      { type: 'dense', name: 'one', units: width },
      { type: 'dense', name: 'two', units: 2 },
    ],
    loss: { type: 'cross-entropy' },
  })

const batches: BatchSource = {
  inputs: () => Promise.resolve(floatTensor(new Float32Array(samples), [samples, 1])),
  labels: () => Promise.resolve({ dtype: 'int32', shape: [samples], data: new Int32Array(samples) }),
}

export function createTraining(places: Places, settings: Training): RunningTraining {
  const { links, clock, leaf, root } = places
  const width = Math.round(settings.activationBytes / 4 / samples)
  let returned = 0
  const stageOf = (stage: 0 | 1, stages: readonly PeerId[]): Stage =>
    createStage(
      {
        ...{ links, clock, batches, log: () => undefined },
        engine: createWaitingEngine(clock, {
          ...{ samples, computeMs: settings.computeMs },
          ...{ inputWidth: stage === 0 ? undefined : width, outputWidth: width },
        }),
      },
      {
        ...{ job: links.job, planNumber: 1, position: { cluster: 0, stage }, stages },
        ...{ layers: [stage, stage + 1] as LayerRange, graph: graphOf(width), microBatch: samples },
        ...{ accumulate: 4, inFlight: settings.inFlight, staleness: 'none' as const },
        order: createBatchOrder({ seed: 1, trainSamples, microBatch: samples, share: { index: 0, of: 1 } }),
        ...{ trainSamples, validationSamples: 0, targetUpdates: 1_000_000 },
      },
      { onEvent: ({ type }) => (returned += Number(stage === 0 && type === 'backward')) },
    )
  const own = stageOf(0, [links.self, leaf])
  const others = stageOf(1, [root, links.self])
  own.start()
  return {
    deliver(from, message) {
      if (message.header.type === 'gradient') own.deliver(from, message)
      else others.deliver(from, message)
    },
    returned: () => returned,
    async stop() {
      await Promise.all([own, others].map((stage) => stage.stop('the measurement is over')))
    },
  }
}
