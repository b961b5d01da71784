/** A whole pool in one process: clusters of stages on fake links, clock and engines. What the job room wires, in small. */
import { createAveraging, type Averaging } from '../../../main/core/averaging/averaging.ts'
import type { MemberRing, RoundReport } from '../../../main/core/averaging/settings.ts'
import type { StageAssignment, StageEvent } from '../../../main/core/pipeline/assignment.ts'
import { createBatchOrder } from '../../../main/core/pipeline/order.ts'
import { type Stage, createStage } from '../../../main/core/pipeline/stage.ts'
import type { StageEngine } from '../../../main/core/ports.ts'
import type { Codec } from '../../../shared/codec/codec.ts'
import { type Optimizer, optimizer as optimizerSchema } from '../../../shared/job/recipe.ts'
import { type LayerRange, type ModelGraph, type Tally, modelGraph } from '../../../shared/model/graph.ts'
import { layoutOfGraph, stateLayout } from '../../../shared/model/layout.ts'
import { isOfAveraging, type WireMessage } from '../../../shared/messages/wire.ts'
import type { RingPlan } from '../../../shared/plan/plan.ts'
import { createRng, nextNormal, seedFrom } from '../../../shared/random.ts'
import { createFakeBatches } from '../../fakes/batches.ts'
import { createVirtualClock } from '../../fakes/clock.ts'
import { createFakeEngine } from '../../fakes/engine.ts'
import { createFakeNetwork } from '../../fakes/links.ts'

export const job = '7'.repeat(64)
export const classes = 3
export const features = 6

const dense = (name: string, units: number) => ({ type: 'dense', name, units })
const relu = (name: string) => ({ type: 'relu', name })

/** Seven layers, 186 numbers. */
export const plainGraph: ModelGraph = modelGraph.parse({
  format: 'rookery-model/1',
  name: 'plain',
  task: 'classify',
  input: { type: 'values', shape: [features] },
  layers: [dense('a', 8), relu('b'), dense('c', 7), relu('d'), dense('e', 6), relu('f'), dense('g', classes)],
  loss: { type: 'cross-entropy' },
})

/** The same with running statistics in it. */
export const normGraph: ModelGraph = modelGraph.parse({
  ...plainGraph,
  name: 'norm',
  layers: plainGraph.layers.map((layer) =>
    layer.name === 'b' || layer.name === 'f'
      ? { type: 'batch-norm', name: layer.name, momentum: 0.5 }
      : layer,
  ),
})

export const layerCount = plainGraph.layers.length

export const adam: Optimizer = optimizerSchema.parse({ type: 'adam', learningRate: 0.02 })
export const momentum: Optimizer = optimizerSchema.parse({ type: 'sgd', learningRate: 0.05, momentum: 0.9 })

export interface PoolSettings {
  /** Of each cluster: where its stages begin, without the 0; [] is one stage. */
  readonly cuts: readonly (readonly number[])[]
  readonly graph?: ModelGraph
  readonly optimizer?: Optimizer
  readonly seed?: number
  readonly microBatch?: number
  readonly accumulate?: number
  readonly inFlight?: number
  readonly staleness?: 'none' | 'predict'
  readonly targetUpdates?: number
  readonly averageEvery?: number
  readonly deadlineMs?: number
  readonly trainSamples?: number
  readonly validationSamples?: number
  /** Longest engine call of a cluster's stages and longest way of a message; drawn anew each time. 0: no time. */
  readonly engineMs?: (cluster: number) => number
  readonly linkMs?: number
  readonly window?: number
  /** Of every border between two stages; default fp32. */
  readonly codec?: Codec
}

export interface PoolMember {
  readonly peer: string
  readonly cluster: number
  readonly assignment: StageAssignment
  readonly engine: StageEngine
  readonly stage: Stage
  readonly averaging: Averaging
  readonly rounds: RoundReport[]
  readonly tallies: Tally[]
  readonly refused: unknown[]
}

/** An event of one stage, in the order of the whole pool. */
interface PoolEvent {
  readonly peer: string
  readonly event: StageEvent
}

type Optional = 'window' | 'deadlineMs' | 'codec'
export type FullSettings = Required<Omit<PoolSettings, Optional>> & Pick<PoolSettings, Optional>

const defaults: Omit<FullSettings, 'cuts' | Optional> = {
  graph: plainGraph,
  optimizer: momentum,
  seed: 1,
  microBatch: 4,
  accumulate: 2,
  inFlight: 3,
  staleness: 'none',
  targetUpdates: 6,
  averageEvery: 2,
  trainSamples: 37,
  validationSamples: 10,
  engineMs: () => 0,
  linkMs: 0,
}
function withDefaults(settings: PoolSettings): FullSettings {
  return { ...defaults, ...settings }
}

export function stagesOf(cuts: readonly number[]): LayerRange[] {
  const borders = [0, ...cuts, layerCount]
  return borders.slice(1).map((to, index): LayerRange => [borders[index]!, to])
}

export const peerName = (cluster: number, stage: number) => `c${cluster}s${stage}`

/** Every layer is averaged by whoever holds it; neighbouring layers with the same holders are one run. */
export function ringsOf(cuts: readonly (readonly number[])[]): RingPlan[] {
  const rings = new Map<string, { layers: [number, number][]; members: string[] }>()
  for (let layer = 0; layer < layerCount; layer++) {
    const members = cuts.map((own, cluster) =>
      peerName(
        cluster,
        stagesOf(own).findIndex(([from, to]) => from <= layer && layer < to),
      ),
    )
    const ring = rings.get(members.join()) ?? { layers: [], members }
    const last = ring.layers.at(-1)
    if (last?.[1] === layer) last[1] = layer + 1
    else ring.layers.push([layer, layer + 1])
    rings.set(members.join(), ring)
  }
  return [...rings.values()]
}

/** The numbers every cluster starts with, layer by layer. */
export function initialNumbers(graph: ModelGraph, seed: number, layers: LayerRange): Float32Array {
  const { trained, untrained, length } = stateLayout(layoutOfGraph(graph), layers)
  const values = new Float32Array(length)
  for (const { name, offset, length: size, initial } of [...trained, ...untrained]) {
    const rng = createRng(seedFrom(seed, name))
    for (let at = offset; at < offset + size; at++)
      values[at] = initial.type === 'constant' ? initial.value : nextNormal(rng) * initial.deviation
  }
  return values
}

export type Pool = Awaited<ReturnType<typeof createPool>>

export async function createPool(given: PoolSettings) {
  const settings = withDefaults(given)
  const { seed, linkMs } = settings
  const clock = createVirtualClock()
  const seen: { from: string; to: string; message: WireMessage }[] = []
  const network = createFakeNetwork({
    clock,
    seed,
    delayMs: [0, linkMs],
    ...(settings.window === undefined ? {} : { window: settings.window }),
    tap: (from, to, message) => seen.push({ from, to, message }),
  })
  const events: PoolEvent[] = []
  const members: PoolMember[] = []
  for (const [cluster, cuts] of settings.cuts.entries())
    for (const stage of stagesOf(cuts).keys())
      members.push(await createMember({ settings, clock, network, events, cluster, stage }))
  const ofCluster = (cluster: number) => members.filter((member) => member.cluster === cluster)
  return {
    ...{ settings, clock, network, events, members, seen, ofCluster },
    roots: settings.cuts.map((_, cluster) => ofCluster(cluster)[0]!),
    start() {
      for (const { stage } of members) stage.start()
    },
    /** Start, train to the target, drain. */
    async train() {
      this.start()
      await clock.runUntil(Promise.all(members.map(({ stage }) => stage.finished)))
    },
    /** Train, and the last round of whoever has drained. */
    async trainAndAverage() {
      this.start()
      const ends = members.map(async ({ stage, averaging }) => {
        await stage.finished
        return averaging.finalRound()
      })
      return clock.runUntil(Promise.all(ends))
    },
    /** All numbers of one cluster's model, layer by layer. */
    async numbers(cluster: number) {
      const layers = await Promise.all(
        ofCluster(cluster).flatMap(
          ({
            engine,
            assignment: {
              layers: [from, to],
            },
          }) =>
            Array.from({ length: to - from }, (_, index) =>
              engine.readState([from + index, from + index + 1]),
            ),
        ),
      )
      return layers.flatMap(({ values }) => [...values])
    },
  }
}

interface MemberParts {
  readonly settings: FullSettings
  readonly clock: ReturnType<typeof createVirtualClock>
  readonly network: ReturnType<typeof createFakeNetwork>
  readonly events: PoolEvent[]
  readonly cluster: number
  readonly stage: number
}

function assignmentOf({ settings, cluster, stage }: MemberParts): StageAssignment {
  const { seed, trainSamples, microBatch, cuts, codec } = settings
  const ranges = stagesOf(cuts[cluster]!)
  return {
    ...settings,
    job,
    planNumber: 1,
    position: { cluster, stage },
    stages: ranges.map((_, index) => peerName(cluster, index)),
    layers: ranges[stage]!,
    ...(codec === undefined ? {} : { codecs: { up: codec, down: codec } }),
    order: createBatchOrder({ seed, trainSamples, microBatch, share: { index: cluster, of: cuts.length } }),
  }
}

async function createMember(parts: MemberParts): Promise<PoolMember> {
  const { settings, clock, network, events, cluster } = parts
  const { graph, optimizer, seed } = settings
  const assignment = assignmentOf(parts)
  const { layers } = assignment
  const peer = peerName(cluster, parts.stage)
  const links = network.linksOf(peer)
  const rng = createRng(seedFrom(seed, peer))
  const most = settings.engineMs(cluster)
  const engine = createFakeEngine(most === 0 ? {} : { clock, delay: () => rng.next() * most })
  const learningRate = { type: 'constant', warmupUpdates: 0 } as const
  const loaded = engine.load({ graph, layers, optimizer, learningRate, seed, memoryBudgetBytes: 0 })
  const written = engine.writeState({ layers, values: initialNumbers(graph, seed, layers) })
  await clock.runUntil(Promise.all([loaded, written]))
  const batches = createFakeBatches({ seed, shape: [features], classes })
  const ports = { engine, links, clock, batches, log: () => undefined }
  const rounds: RoundReport[] = []
  const tallies: Tally[] = []
  const refused: unknown[] = []
  const stage = createStage(ports, assignment, {
    onUpdate: () => {
      averaging.updated()
    },
    mayUpdate: () => averaging.gate(),
    onTally: (tally) => tallies.push(tally),
    onEvent: (event) => events.push({ peer, event }),
  })
  const rings = ringsOf(settings.cuts)
    .map((plan, index): MemberRing => ({ index, plan }))
    .filter(({ plan }) => plan.members.includes(peer))
  const { averageEvery, deadlineMs } = settings
  const averaging = createAveraging(
    ports,
    { job, planNumber: 1, graph, rings, averageEvery, ...(deadlineMs === undefined ? {} : { deadlineMs }) },
    { progress: () => stage.progress(), onRound: (report) => rounds.push(report) },
  )
  links.onMessage(({ peer: from }, message) => {
    try {
      if (isOfAveraging(message.header)) averaging.deliver(from, message)
      else stage.deliver(from, message)
    } catch (error) {
      refused.push(error)
    }
  })
  return { peer, cluster, assignment, engine, stage, averaging, rounds, tallies, refused }
}
