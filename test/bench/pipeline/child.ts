/** A stage of three in a process of its own: real links and the real pipeline, on an engine that only waits. */
import { setFlagsFromString } from 'node:v8'
import { createBatchOrder } from '../../../main/core/pipeline/order.ts'
import { createStage } from '../../../main/core/pipeline/stage.ts'
import type { BatchSource } from '../../../main/core/ports.ts'
import { realClock } from '../../../main/agent/clock.ts'
import { createMembership } from '../../../main/edge/identity/certificate.ts'
import { createIdentity } from '../../../main/edge/identity/identity.ts'
import { createSwarm } from '../../../main/edge/swarm/swarm.ts'
import { modelGraph, type LayerRange } from '../../../shared/model/graph.ts'
import { floatTensor } from '../../../shared/tensor.ts'
import { createWaitingEngine } from '../waiting-engine.ts'
import type { StageOrder, StageOrders, StageWord } from './orders.ts'

// As the agent does: without it, every 64 MB that travel cost a full garbage collection.
setFlagsFromString('--external-memory-accounted-in-global-limit')

const samples = 64
/** 256 KiB a border. */
const width = 1024
const computeMs = 30
const accumulate = 6
const inFlight = 6
const updates = 80
const trainSamples = 64 * samples

const say = (word: StageWord) => process.send?.(word)
const silent = () => undefined

const { privateKey } = await createIdentity()
const swarm = await createSwarm({
  ...{ privateKey, listen: { address: '127.0.0.1', port: 0 }, localDiscovery: false },
  ...{ log: silent, verifyRecord: () => false, clock: realClock },
})

const graph = modelGraph.parse({
  format: 'rookery-model/1',
  name: 'three-stages',
  task: 'classify',
  input: { type: 'values', shape: [width] },
  layers: ['one', 'two', 'three'].map((name) => ({ type: 'dense', name, units: width })),
  loss: { type: 'cross-entropy' },
})

const batches: BatchSource = {
  inputs: () => Promise.resolve(floatTensor(new Float32Array(samples * width), [samples, width])),
  labels: () => Promise.resolve({ dtype: 'int32', shape: [samples], data: new Int32Array(samples) }),
}

async function take({ publicKey, certificate, stage: position, peers }: StageOrders) {
  const links = swarm.openLinks({
    ...createMembership(publicKey, Date.now),
    ...{ certificate, hosting: false },
  })
  for (const { peer, addresses } of peers)
    if (peer !== links.self) await links.learnAddresses(peer, addresses)
  const moments: { atMs: number; busyMs: number }[] = []
  const stage = createStage(
    {
      ...{ links, clock: realClock, batches, log: silent },
      engine: createWaitingEngine(realClock, {
        ...{ samples, computeMs, outputWidth: width, inputWidth: position === 0 ? undefined : width },
      }),
    },
    {
      ...{ job: links.job, planNumber: 1, position: { cluster: 0, stage: position }, graph, accumulate },
      ...{ stages: peers.map(({ peer }) => peer), layers: [position, position + 1] as LayerRange, inFlight },
      ...{ microBatch: samples, staleness: 'none' as const, trainSamples, validationSamples: 0 },
      order: createBatchOrder({
        ...{ seed: 1, trainSamples, microBatch: samples, share: { index: 0, of: 1 } },
      }),
      targetUpdates: updates,
    },
    { onUpdate: () => moments.push({ atMs: performance.now(), busyMs: stage.stats().busyMs }) },
  )
  links.onMessage(({ peer }, message) => {
    stage.deliver(peer, message)
  })
  void stage.finished.then(() => {
    const [first, last] = [moments[0], moments.at(-1)]
    if (first === undefined || last === undefined) return
    const took = last.atMs - first.atMs
    const batchesBetween = (moments.length - 1) * accumulate
    say({ busyShare: (last.busyMs - first.busyMs) / took, msPerBatch: took / batchesBetween })
  })
  say({ ready: true })
  return stage
}

let stage: Awaited<ReturnType<typeof take>> | undefined
process.on('message', (order: StageOrder) => {
  if ('begin' in order) stage?.start()
  else
    void take(order.take).then((taken) => {
      stage = taken
    })
})
process.on('disconnect', () => process.exit(0))
say({ opened: { peer: swarm.self, addresses: [...swarm.addresses()] } })
