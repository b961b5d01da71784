/** A member of the bench of averaging: real links, engine and averaging. Where it trains, real stages on engines that wait. */
import { createHash } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { createAveraging, type Averaging } from '../../../main/core/averaging/averaging.ts'
import { startWasmEngineThread } from '../../../main/edge/engine/wasm/client.ts'
import { createIdentity } from '../../../main/edge/identity/identity.ts'
import { createMembership } from '../../../main/edge/identity/certificate.ts'
import { createSwarm, type JobLinks, type Swarm } from '../../../main/edge/swarm/swarm.ts'
import { realClock } from '../../../main/agent/clock.ts'
import { InvariantError } from '../../../shared/errors.ts'
import { modelGraph, type LayerRange } from '../../../shared/model/graph.ts'
import { createRng } from '../../../shared/random.ts'
import { rows, type Answer, type Order, type Orders } from './orders.ts'
import { createTraining, type RunningTraining } from './training.ts'

// As the agent does: without it, every 64 MB that travel cost a full garbage collection.
setFlagsFromString('--external-memory-accounted-in-global-limit')

type Handlers = { [N in keyof Orders]: (input: Orders[N]['in']) => Promise<Orders[N]['out']> }

const wallMs = () => performance.timeOrigin + performance.now()
const silent = () => undefined

let swarm: Swarm
let links: JobLinks
let averaging: Averaging | undefined
let training: RunningTraining | undefined
let roundEnded = Promise.withResolvers<string>()
/** Of the ring, the next member first. */
let others: readonly string[] = []
const engine = await startWasmEngineThread({ kernels: 'narrow', threads: 1 })
const layers: LayerRange = [0, 1]
const progress = { updates: 0, samples: 0, stateVersion: 0 }

/** A model of one layer that has so many numbers. */
const graphOf = (elements: number) =>
  modelGraph.parse({
    format: 'rookery-model/1',
    name: 'vector',
    task: 'classify',
    input: { type: 'values', shape: [rows - 1] },
    layers: [{ type: 'dense', name: 'all', units: elements / rows }],
    loss: { type: 'cross-entropy' },
  })

const handlers: Handlers = {
  async open({ address }) {
    const { privateKey } = await createIdentity()
    swarm = await createSwarm({
      ...{ privateKey, listen: { address, port: 0 }, localDiscovery: false },
      ...{ log: silent, verifyRecord: () => false, clock: realClock },
    })
    return { peer: swarm.self, addresses: [...swarm.addresses()] }
  },
  async enter({ publicKey, certificate, others: known }) {
    links = swarm.openLinks({ ...createMembership(publicKey, Date.now), certificate, hosting: false })
    others = known.map(({ peer }) => peer)
    for (const { peer, addresses } of known) await links.learnAddresses(peer, addresses)
    links.onMessage(({ peer }, message) => {
      const { type } = message.header
      if (type === 'activation' || type === 'gradient') training?.deliver(peer, message)
      else averaging?.deliver(peer, message)
    })
    return null
  },
  async plan({ number, elements, members }) {
    const graph = graphOf(elements)
    await engine.load({
      ...{ graph, layers, seed: 0, memoryBudgetBytes: 0 },
      optimizer: { type: 'sgd', learningRate: 0.1, momentum: 0, nesterov: false, weightDecay: 0 },
      learningRate: { type: 'constant', warmupUpdates: 0 },
    })
    const rng = createRng(members.indexOf(swarm.self))
    await engine.writeState({ layers, values: new Float32Array(elements).map(() => rng.next()) })
    const plan = { layers: [[0, 1] as [number, number]], members }
    averaging?.replan({ planNumber: number, rings: [] })
    averaging = createAveraging(
      { engine, links, clock: realClock, log: silent },
      {
        ...{ job: links.job, graph, averageEvery: 1 },
        ...{ planNumber: number, rings: [{ index: 0, plan }] },
      },
      {
        progress: () => ({ ...progress }),
        onRound: ({ outcome, reason }) => {
          roundEnded.resolve(outcome === 'averaged' ? '' : reason)
        },
      },
    )
    return null
  },
  async round({ weight, trains }) {
    const cpu = process.cpuUsage()
    const [sent, line] = [links.sentBytes().parameters, swarm.traffic().sentBytes]
    roundEnded = Promise.withResolvers()
    const startedMs = wallMs()
    progress.updates += 1
    progress.samples += weight
    averaging?.updated()
    // Of a stage that trains on, the mean comes back as a difference.
    if (trains) progress.stateVersion += 1
    const reason = await roundEnded.promise
    if (reason !== '') throw new InvariantError(`the round was abandoned: ${reason}`)
    const { user, system } = process.cpuUsage(cpu)
    return {
      ...{ startedMs, endedMs: wallMs(), cpuMs: (user + system) / 1000 },
      sentBytes: links.sentBytes().parameters - sent,
      lineBytes: swarm.traffic().sentBytes - line,
    }
  },
  digest: async () =>
    createHash('sha256')
      .update((await engine.readState(layers)).values)
      .digest('hex'),
  train(settings) {
    // Chunks go to the next member, activations to the one before: over one connection where there are two members.
    const [next, previous] = [others.at(0) ?? '', others.at(-1) ?? '']
    training = createTraining({ links, clock: realClock, root: next, leaf: previous }, settings)
    return Promise.resolve(null)
  },
  trained: () => Promise.resolve({ microBatches: training?.returned() ?? 0, atMs: wallMs() }),
  async rest() {
    await training?.stop()
    training = undefined
    return null
  },
}

process.on('message', ({ id, name, input }: Order) => {
  // The bench may be gone by now.
  const answer = (said: Answer) => process.send?.(said, undefined, undefined, () => undefined)
  ;(handlers[name] as (input: unknown) => Promise<unknown>)(input).then(
    (output) => answer({ id, output }),
    (error: unknown) => answer({ id, error: String(error) }),
  )
})
process.on('disconnect', () => process.exit())
