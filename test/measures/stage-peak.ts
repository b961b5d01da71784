/** The most tensor memory that a stage takes on a real engine: a few updates with so much in flight. */
import { initialState } from '../../main/core/model/initial-state.ts'
import type { StageEngine } from '../../main/core/ports.ts'
import { recipe } from '../../shared/job/recipe.ts'
import type { LayerRange, ModelGraph } from '../../shared/model/graph.ts'
import { layoutOfGraph } from '../../shared/model/layout.ts'
import { createRng } from '../../shared/random.ts'
import { elementCount, type HostTensor } from '../../shared/tensor.ts'

const rng = createRng(1)
const rounds = 3

function floats(shape: readonly number[]): HostTensor {
  const data = Float32Array.from({ length: elementCount(shape) }, () => rng.next() - 0.5)
  return { dtype: 'float32', shape, data }
}

function ids(shape: readonly number[], below: number): HostTensor {
  const data = Int32Array.from({ length: elementCount(shape) }, () => Math.floor(rng.next() * below))
  return { dtype: 'int32', shape, data }
}

export interface StageLoad {
  readonly graph: ModelGraph
  readonly layers: LayerRange
  readonly microBatch: number
  readonly inFlight: number
  readonly recompute?: boolean
}

/** @returns bytes, as the engine counts them */
export async function peakOf(engine: StageEngine, load: StageLoad): Promise<number> {
  const next = await createRounds(engine, load)
  for (let round = 0; round < rounds; round++) await next()
  const { peakBytes } = await engine.memory()
  await engine.unload()
  return peakBytes
}

/** A stage that trains: each round has all its micro-batches in flight at once, and ends with an update. */
export async function createRounds(engine: StageEngine, load: StageLoad): Promise<() => Promise<void>> {
  const { graph, layers, recompute = false } = load
  const { optimizer, learningRate } = recipe.parse({})
  const limits = { clipNorm: 1, memoryBudgetBytes: 0, recompute }
  await engine.load({ graph, layers, optimizer, learningRate, seed: 0, ...limits })
  await engine.writeState(initialState(graph, layers, 0))
  let round = 0
  return () => trainRound(engine, load, round++)
}

async function trainRound(
  engine: StageEngine,
  { graph, layers: [from, to], ...load }: StageLoad,
  round: number,
) {
  const layouts = layoutOfGraph(graph)
  const shapeOf = (shape: readonly number[] | undefined) => [load.microBatch, ...(shape ?? [])]
  const inputShape = shapeOf(layouts[from]?.inputShape)
  const outputShape = shapeOf(layouts[to - 1]?.outputShape)
  const makeInput = inputMaker(graph, from)
  const isLeaf = to === graph.layers.length
  const microBatches = Array.from({ length: load.inFlight }, (_, index) => round * load.inFlight + index)
  for (const microBatch of microBatches) {
    const input = makeInput(inputShape)
    const request = { microBatch, input, predictUpdates: microBatch % 2 }
    if (!isLeaf) await engine.forward(request)
    else
      await engine.forwardLoss({ ...request, labels: ids(outputShape.slice(0, -1), outputShape.at(-1) ?? 1) })
  }
  if (!isLeaf) for (const microBatch of microBatches) await engine.backward(microBatch, floats(outputShape))
  await engine.update()
}

/** The root of a text model takes tokens, every other stage floats. */
function inputMaker({ input }: ModelGraph, from: number): (shape: readonly number[]) => HostTensor {
  if (from > 0 || input.type !== 'tokens') return floats
  return (shape) => ids(shape, input.vocabulary)
}
