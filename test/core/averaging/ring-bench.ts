/** Ring members without pipelines: the test says how many updates each has made. */
import { createAveraging, type Averaging } from '../../../main/core/averaging/averaging.ts'
import type { MemberRing, RoundReport } from '../../../main/core/averaging/settings.ts'
import type { StageEngine } from '../../../main/core/ports.ts'
import type { PeerId } from '../../../shared/ids.ts'
import type { LayerRange, ModelGraph } from '../../../shared/model/graph.ts'
import type { WireMessage } from '../../../shared/messages/wire.ts'
import { createRng, nextInt, seedFrom } from '../../../shared/random.ts'
import { createVirtualClock } from '../../fakes/clock.ts'
import { createFakeEngine } from '../../fakes/engine.ts'
import { createFakeNetwork } from '../../fakes/links.ts'
import { job, layerCount, momentum, peerName, plainGraph, ringsOf, stagesOf } from '../pipeline/pool.ts'

export interface BenchSettings {
  readonly cuts: readonly (readonly number[])[]
  readonly graph?: ModelGraph
  readonly averageEvery?: number
  readonly deadlineMs?: number
  readonly seed?: number
  readonly linkMs?: number
  readonly pieceElements?: number
}

export interface BenchMember {
  readonly peer: PeerId
  readonly cluster: number
  readonly layers: LayerRange
  readonly engine: StageEngine
  readonly averaging: Averaging
  readonly rounds: RoundReport[]
  readonly refused: unknown[]
  readonly faults: unknown[]
  readonly progress: { updates: number; samples: number; stateVersion: number }
  /** The stage made so many updates of ten samples each. */
  readonly made: (updates: number) => void
}

export type Bench = Awaited<ReturnType<typeof createBench>>

/** Whole numbers, others in every cluster: means of them are exact. */
export async function createBench(settings: BenchSettings) {
  const { cuts, seed = 1, linkMs = 0 } = settings
  const clock = createVirtualClock()
  const seen: { from: PeerId; to: PeerId; message: WireMessage }[] = []
  const network = createFakeNetwork({
    clock,
    seed,
    delayMs: [0, linkMs],
    tap: (from, to, message) => seen.push({ from, to, message }),
  })
  const members: BenchMember[] = []
  for (const [cluster, own] of cuts.entries())
    for (const [stage, layers] of stagesOf(own).entries())
      members.push(
        await createMember({ settings, clock, network, cluster, layers, peer: peerName(cluster, stage) }),
      )
  const holders = (cluster: number) => members.filter((member) => member.cluster === cluster)
  return {
    ...{ clock, network, members, seen, holders },
    /** All numbers of one cluster's model, layer by layer. */
    async numbers(cluster: number): Promise<number[]> {
      const perLayer = await Promise.all(
        Array.from({ length: layerCount }, (_, layer) =>
          holders(cluster)
            .find(({ layers: [from, to] }) => from <= layer && layer < to)!
            .engine.readState([layer, layer + 1]),
        ),
      )
      return perLayer.flatMap(({ values }) => [...values])
    },
    /** Everyone's last round. */
    finish: () => clock.runUntil(Promise.all(members.map(({ averaging }) => averaging.finalRound()))),
  }
}

interface MemberParts {
  readonly settings: BenchSettings
  readonly clock: ReturnType<typeof createVirtualClock>
  readonly network: ReturnType<typeof createFakeNetwork>
  readonly cluster: number
  readonly layers: LayerRange
  readonly peer: PeerId
}

async function createMember({
  settings,
  clock,
  network,
  cluster,
  layers,
  peer,
}: MemberParts): Promise<BenchMember> {
  const { graph = plainGraph, averageEvery = 2, deadlineMs, seed = 1, cuts, pieceElements } = settings
  const engine = createFakeEngine()
  const learningRate = { type: 'constant', warmupUpdates: 0 } as const
  await engine.load({ graph, layers, optimizer: momentum, learningRate, seed, memoryBudgetBytes: 0 })
  for (let layer = layers[0]; layer < layers[1]; layer++) {
    const { values } = await engine.readState([layer, layer + 1])
    const rng = createRng(seedFrom(seed, cluster, layer))
    await engine.writeState({ layers: [layer, layer + 1], values: values.map(() => nextInt(rng, 999)) })
  }
  const links = network.linksOf(peer)
  const rounds: RoundReport[] = []
  const refused: unknown[] = []
  const faults: unknown[] = []
  const progress = { updates: 0, samples: 0, stateVersion: 0 }
  const rings = ringsOf(cuts)
    .map((plan, index): MemberRing => ({ index, plan }))
    .filter(({ plan }) => plan.members.includes(peer))
  const averaging = createAveraging(
    { engine, links, clock, log: () => undefined },
    {
      ...{ job, planNumber: 1, graph, rings, averageEvery },
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
      ...(pieceElements === undefined ? {} : { pieceElements }),
    },
    {
      progress: () => ({ ...progress }),
      onRound: (report) => rounds.push(report),
      onFault: (error) => faults.push(error),
    },
  )
  links.onMessage(({ peer: from }, message) => {
    try {
      averaging.deliver(from, message)
    } catch (error) {
      refused.push(error)
    }
  })
  const made = (updates: number) => {
    for (let update = 0; update < updates; update++) {
      progress.updates += 1
      progress.samples += 10
      progress.stateVersion += 1
      averaging.updated()
    }
  }
  return { peer, cluster, layers, engine, averaging, rounds, refused, faults, progress, made }
}
