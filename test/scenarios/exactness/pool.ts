/** Clusters of real stages on real TensorFlow.js engines, in one process, over late links in virtual time. */
import { type Averaging, createAveraging } from '../../../main/core/averaging/averaging.ts'
import type { RoundReport } from '../../../main/core/averaging/settings.ts'
import { initialState } from '../../../main/core/model/initial-state.ts'
import type { StageAssignment, StageEvent } from '../../../main/core/pipeline/assignment.ts'
import { createBatchOrder } from '../../../main/core/pipeline/order.ts'
import { type Stage, createStage } from '../../../main/core/pipeline/stage.ts'
import { ringsOf } from '../../../main/core/planner/rings.ts'
import type { StageEngine } from '../../../main/core/ports.ts'
import { isOfAveraging, type WireMessage } from '../../../shared/messages/wire.ts'
import { type Optimizer, optimizer as optimizerSchema } from '../../../shared/job/recipe.ts'
import type { LayerRange, ModelGraph, Tally } from '../../../shared/model/graph.ts'
import { createRng, seedFrom } from '../../../shared/random.ts'
import { type VirtualClock, createVirtualClock } from '../../fakes/clock.ts'
import { createFakeNetwork } from '../../fakes/links.ts'
import { samplesFor } from './models.ts'
import { type Numbers, byName } from './numbers.ts'
import { delaysOf, simulate } from './simulator.ts'

export const momentum: Optimizer = optimizerSchema.parse({ type: 'sgd', learningRate: 0.05, momentum: 0.9 })
export const adam: Optimizer = optimizerSchema.parse({ type: 'adam', learningRate: 0.01 })
export const adamw: Optimizer = optimizerSchema.parse({ type: 'adamw', learningRate: 0.01 })

export interface PoolSettings {
  readonly graph: ModelGraph
  /** Of each cluster: where its stages begin, without the 0; [] is one stage. */
  readonly cuts: readonly (readonly number[])[]
  readonly optimizer: Optimizer
  readonly seed: number
  /** A. */
  readonly accumulate: number
  /** K. */
  readonly inFlight: number
  readonly staleness: 'none' | 'predict'
  readonly targetUpdates: number
  /** H; more than the target: only the last round. */
  readonly averageEvery?: number
}

export interface PoolMember {
  readonly peer: string
  readonly cluster: number
  readonly assignment: StageAssignment
  readonly engine: StageEngine
  readonly stage: Stage
  readonly averaging: Averaging
  readonly events: StageEvent[]
  readonly tallies: Tally[]
  readonly rounds: RoundReport[]
  readonly refused: unknown[]
}

/** Longest way of a message and longest engine call, drawn anew each time. */
const linkMs = 20
const engineMs = 6
/** Not a whole number of micro-batches: every epoch ends with a shorter one. */
const trainSamples = 46
export const validationSamples = 10
const microBatch = 4

const rangesOf = ({ graph, cuts }: PoolSettings): LayerRange[][] =>
  cuts.map((own) => {
    const borders = [0, ...own, graph.layers.length]
    return borders.slice(1).map((to, index): LayerRange => [borders[index]!, to])
  })

const peerName = (cluster: number, stage: number) => `c${cluster}s${stage}`

export type Pool = Awaited<ReturnType<typeof createPool>>

/** @param engines - at least one a stage; what they held is forgotten */
export async function createPool(engines: readonly StageEngine[], settings: PoolSettings) {
  const clock = createVirtualClock()
  const network = createFakeNetwork({ clock, seed: settings.seed, delayMs: [0, linkMs] })
  const ranges = rangesOf(settings)
  const rings = ringsOf(ranges.map((own, cluster) => own.map((layers, stage) => ({ peer: peerName(cluster, stage), layers })))) // prettier-ignore
  const members: PoolMember[] = []
  for (const [cluster, own] of ranges.entries())
    for (const stage of own.keys()) {
      const engine = engines[members.length]!
      members.push(await createMember({ settings, ranges, rings, clock, network, engine, cluster, stage }))
    }
  const ofCluster = (cluster: number) => members.filter((member) => member.cluster === cluster)
  const roots = ranges.map((_, cluster) => ofCluster(cluster)[0]!.stage)
  return {
    ...{ settings, clock, network, rings, members, roots, ofCluster },
    start() {
      for (const root of roots) root.start()
    },
    /** Let time pass until every stage has trained to the end of its stream. */
    async train() {
      await clock.runUntil(Promise.all(members.map(({ stage }) => stage.finished)))
    },
    /** All numbers of a cluster's model. */
    async numbers(cluster = 0): Promise<Numbers> {
      const reads = ofCluster(cluster).map(({ engine, assignment }) => engine.readState(assignment.layers))
      const states = await clock.runUntil(Promise.all(reads))
      return new Map(states.flatMap((state) => [...byName(settings.graph, state)]))
    },
  }
}

/** What the simulator makes of the lateness that a cluster recorded. */
export function simulated({ settings, ofCluster }: Pool, cluster = 0): Promise<Numbers> {
  const { graph, optimizer, seed } = settings
  const members = ofCluster(cluster)
  const { order } = members[0]!.assignment
  const samples = samplesFor(graph, seed)
  return simulate({
    ...{ graph, optimizer, seed },
    stages: members.map(({ assignment, events }) => delaysOf(assignment.layers, events)),
    batchOf: async (microBatch) => ({
      input: await samples.inputs(order.batch(microBatch)),
      labels: await samples.labels(order.batch(microBatch)),
      dropoutSeed: seedFrom(seed + cluster, microBatch),
    }),
  })
}

interface MemberParts {
  readonly settings: PoolSettings
  readonly ranges: readonly (readonly LayerRange[])[]
  readonly rings: ReturnType<typeof ringsOf<string>>
  readonly clock: VirtualClock
  readonly network: ReturnType<typeof createFakeNetwork>
  readonly engine: StageEngine
  readonly cluster: number
  readonly stage: number
}

const job = '7'.repeat(64)

function assignmentOf({ settings, ranges, cluster, stage }: MemberParts): StageAssignment {
  const own = ranges[cluster]!
  return {
    ...settings,
    ...{ job, planNumber: 1, microBatch, trainSamples, validationSamples },
    position: { cluster, stage },
    stages: own.map((_, index) => peerName(cluster, index)),
    layers: own[stage]!,
    order: createBatchOrder({
      seed: settings.seed,
      trainSamples,
      microBatch,
      share: { index: cluster, of: ranges.length },
    }),
  }
}

/** The same engine, whose passes take time: stages then overlap in ever new ways. */
function slowed(engine: StageEngine, clock: VirtualClock, seed: number): StageEngine {
  const rng = createRng(seed)
  const late = async <T>(made: Promise<T>): Promise<T> => {
    const result = await made
    await clock.sleep(rng.next() * engineMs)
    return result
  }
  return {
    ...engine,
    forward: (request) => late(engine.forward(request)),
    forwardLoss: (request) => late(engine.forwardLoss(request)),
    backward: (...given) => late(engine.backward(...given)),
    infer: (...given) => late(engine.infer(...given)),
    judge: (input, labels) => late(engine.judge(input, labels)),
  }
}

async function createMember(parts: MemberParts): Promise<PoolMember> {
  const { settings, rings, clock, network, cluster } = parts
  const { graph, optimizer, seed, averageEvery = Infinity } = settings
  const assignment = assignmentOf(parts)
  const { layers } = assignment
  const peer = peerName(cluster, parts.stage)
  const links = network.linksOf(peer)
  const learningRate = { type: 'constant', warmupUpdates: 0 } as const
  await parts.engine.load({
    graph,
    layers,
    optimizer,
    learningRate,
    seed: seed + cluster,
    memoryBudgetBytes: 0,
  })
  await parts.engine.writeState(initialState(graph, layers, seed))
  const engine = slowed(parts.engine, clock, seedFrom(seed, peer))
  const ports = { engine, links, clock, batches: samplesFor(graph, seed), log: () => undefined }
  const said = { events: [] as StageEvent[], tallies: [] as Tally[], rounds: [] as RoundReport[], refused: [] as unknown[] } // prettier-ignore
  const stage = createStage(ports, assignment, {
    onUpdate: () => {
      averaging.updated()
    },
    mayUpdate: () => averaging.gate(),
    onTally: (tally) => said.tallies.push(tally),
    onEvent: (event) => said.events.push(event),
  })
  const own = rings.map((plan, index) => ({ index, plan })).filter(({ plan }) => plan.members.includes(peer))
  const averaging = createAveraging(
    ports,
    {
      job,
      planNumber: 1,
      graph,
      rings: own.map(({ index, plan }) => ({ index, plan: asPlan(plan) })),
      averageEvery,
    },
    { progress: () => stage.progress(), onRound: (report) => said.rounds.push(report) },
  )
  links.onMessage(({ peer: from }, message: WireMessage) => {
    try {
      if (isOfAveraging(message.header)) averaging.deliver(from, message)
      else stage.deliver(from, message)
    } catch (error) {
      said.refused.push(error)
    }
  })
  return { peer, cluster, assignment, engine, stage, averaging, ...said }
}

const asPlan = ({ layers, members }: ReturnType<typeof ringsOf<string>>[number]) => ({
  layers: layers.map(([from, to]): [number, number] => [from, to]),
  members,
})
