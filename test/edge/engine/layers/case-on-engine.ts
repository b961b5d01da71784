/** A committed PyTorch case through any engine, by its port alone. */
import type { StageEngine } from '../../../../main/core/ports.ts'
import { learningRateSchedule, optimizer } from '../../../../shared/job/recipe.ts'
import { layoutOfGraph, stateLayout } from '../../../../shared/model/layout.ts'
import { floatTensor, type HostTensor } from '../../../../shared/tensor.ts'
import { graphOf } from './case-graph.ts'
import type { Numbers, ReferenceCase } from './reference-cases.ts'

/**
 * Output, gradients and state by the names of the reference.
 *
 * SGD of rate 1 shows the gradients: a weight moves by exactly its own. What the float of the moved weight cannot hold
 * is lost; the cases' weights and gradients are of like size.
 */
export async function runCaseOn(engine: StageEngine, one: ReferenceCase): Promise<Numbers> {
  const { graph, range } = graphOf(one)
  const layout = stateLayout(layoutOfGraph(graph), range)
  await engine.load({
    graph,
    layers: range,
    optimizer: optimizer.parse({ type: 'sgd', learningRate: 1 }),
    learningRate: learningRateSchedule.parse({ type: 'constant' }),
    seed: 1,
    memoryBudgetBytes: 0,
  })
  const before = new Float32Array(layout.length)
  for (const { name, offset } of [...layout.trained, ...layout.untrained])
    before.set(one.parameters[name]!.values, offset)
  await engine.writeState({ layers: range, values: before })
  const input = inputOf(one)
  if (!one.training) return new Map([['output', (await engine.infer(input)).data as Float32Array]])

  const output = await engine.forward({ microBatch: 0, input, predictUpdates: 0 })
  const { values, shape } = one.outputGradient
  const byInput = await engine.backward(0, floatTensor(Float32Array.from(values), shape))
  await engine.update()
  const after = (await engine.readState(range)).values
  const part = (of: Float32Array, { offset, length }: { offset: number; length: number }) =>
    of.slice(offset, offset + length)
  return new Map([
    ['output', output.data as Float32Array],
    ...(byInput === undefined ? [] : [['gradient of the input', byInput.data as Float32Array] as const]),
    ...layout.trained.map((placed) => {
      const moved = part(after, placed)
      return [`gradient of ${placed.name}`, part(before, placed).map((w, at) => w - moved[at]!)] as const
    }),
    ...layout.untrained.map((placed) => [`state ${placed.name}`, part(after, placed)] as const),
  ])
}

function inputOf({ input: { dtype, shape, values } }: ReferenceCase): HostTensor {
  return dtype === 'int32'
    ? { dtype, shape, data: Int32Array.from(values) }
    : floatTensor(Float32Array.from(values), shape)
}
