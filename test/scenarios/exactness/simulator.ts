/**
 * A single process that trains a model whose gradients come late: the oracle of asynchronous runs.
 *
 * It knows nothing of stage loops, engines, messages or time. It keeps every version of the weights, and takes the
 * gradient of micro-batch m at weights that are, stage by stage, as many updates old as the recorded run says.
 * The optimizer is plain float32 arithmetic, the gradient automatic differentiation of the uncut model.
 */
import { initialState } from '../../../main/core/model/initial-state.ts'
import type { StageEvent } from '../../../main/core/pipeline/assignment.ts'
import type { Optimizer } from '../../../shared/job/recipe.ts'
import type { LayerRange, ModelGraph } from '../../../shared/model/graph.ts'
import { type Trained, followed, meanOf, predicted, stepped, untrained } from './float32-optimizers.ts'
import { type Numbers, byName, layoutOf } from './numbers.ts'
import { type Seen, type WholeBatch, slopesAt } from './whole-model.ts'

/** How late the gradients of one stage were. */
export interface Delays {
  readonly layers: LayerRange
  /** Of each micro-batch: updates between its forward pass and the moment its gradient was gathered. */
  readonly staleness: readonly number[]
  /** Of each micro-batch: how many updates ahead its forward pass looked. */
  readonly ahead: readonly number[]
  /** Of each update: how many micro-batches it gathered. */
  readonly gathered: readonly number[]
}

/** What a stage's record says about lateness; its order and its clock are forgotten. */
export function delaysOf(layers: LayerRange, events: readonly StageEvent[]): Delays {
  const versions: number[] = []
  const delays = { ahead: [] as number[], staleness: [] as number[], gathered: [] as number[] }
  let sinceUpdate = 0
  for (const event of events) {
    if (event.type === 'forward') {
      versions[event.microBatch] = event.version
      delays.ahead[event.microBatch] = event.predict
    } else if (event.type === 'backward') {
      delays.staleness[event.microBatch] = event.version - versions[event.microBatch]!
      sinceUpdate += 1
    } else {
      delays.gathered.push(sinceUpdate)
      sinceUpdate = 0
    }
  }
  return { layers, ...delays }
}

export interface Simulation {
  readonly graph: ModelGraph
  readonly optimizer: Optimizer
  /** Of the first numbers. */
  readonly seed: number
  readonly stages: readonly Delays[]
  readonly batchOf: (microBatch: number) => Promise<WholeBatch>
}

/** The whole model's numbers at the end, running statistics too. */
export async function simulate({ graph, optimizer, seed, stages, batchOf }: Simulation): Promise<Numbers> {
  const parts = stages.map((delays) => startOf({ graph, optimizer, seed }, delays))
  const microBatches = stages[0]!.staleness.length
  for (let microBatch = 0; microBatch < microBatches; microBatch++) {
    const point = new Map(parts.flatMap((part) => [...part.weightsFor(microBatch)]))
    const { slopes, seen } = slopesAt(graph, point, await batchOf(microBatch))
    for (const part of parts) part.take(slopes, seen)
  }
  return new Map(parts.flatMap((part) => [...part.numbers()]))
}

function startOf(
  { graph, optimizer, seed }: Pick<Simulation, 'graph' | 'optimizer' | 'seed'>,
  delays: Delays,
) {
  const { layers, staleness, ahead, gathered } = delays
  const first = byName(graph, initialState(graph, layers, seed))
  const names = layoutOf(graph, layers).trained.map(({ name }) => name)
  const running = new Map(layoutOf(graph, layers).untrained.map(({ name }) => [name, first.get(name)!]))
  /** After 0, 1, 2, … updates. */
  const versions: ReadonlyMap<string, Trained>[] = [
    new Map(names.map((name) => [name, untrained(optimizer, first.get(name)!)])),
  ]
  let waiting: Numbers[] = []

  const update = () => {
    const number = versions.length
    const before = versions.at(-1)!
    const next = names.map((name) => {
      const mean = meanOf(waiting.map((slopes) => slopes.get(name)!))
      return [name, stepped(optimizer, before.get(name)!, mean, number)] as const
    })
    versions.push(new Map(next))
    waiting = []
  }
  return {
    /** Call when all earlier micro-batches are taken: the newest version is then the one its gradient will change. */
    weightsFor(microBatch: number): Numbers {
      const updates = versions.length - 1 - staleness[microBatch]!
      const look = (trained: Trained) => predicted(optimizer, trained, ahead[microBatch]!, updates)
      return new Map([...versions[updates]!].map(([name, trained]) => [name, look(trained)]))
    },
    take(slopes: Numbers, seen: readonly Seen[]): void {
      for (const { name, values, momentum } of seen)
        if (running.has(name)) running.set(name, followed(running.get(name)!, values, momentum))
      waiting.push(slopes)
      if (waiting.length === gathered[versions.length - 1]) update()
    },
    numbers(): Numbers {
      const weights = [...versions.at(-1)!].map(([name, { weight }]) => [name, weight] as const)
      return new Map([...weights, ...running])
    },
  }
}
