/** A committed PyTorch case through a stage on our own kernels. */
import { openKernels } from '../../../../main/edge/engine/wasm/kernel-module.ts'
import type { KernelWidth } from '../../../../main/edge/engine/wasm/kernels.ts'
import { createHeap } from '../../../../main/edge/engine/wasm/memory/heap.ts'
import { backward, createStage, forward, infer, type Stage } from '../../../../main/edge/engine/wasm/stage.ts'
import { stageShape } from '../../../../main/edge/engine/wasm/stage-shape.ts'
import { readState, writeState } from '../../../../main/edge/engine/wasm/state.ts'
import { learningRateSchedule, optimizer } from '../../../../shared/job/recipe.ts'
import { graphOf } from '../layers/case-graph.ts'
import type { Numbers, ReferenceCase } from '../layers/reference-cases.ts'

/** A stage of the case's layers, with its parameters, on a heap whose first bytes are taken. */
function stageOfCase(one: ReferenceCase, width: KernelWidth, takenBytes: number): Stage {
  const { graph, range } = graphOf(one)
  const shape = stageShape({
    graph,
    layers: range,
    optimizer: optimizer.parse({ type: 'sgd', learningRate: 1 }),
    learningRate: learningRateSchedule.parse({ type: 'constant' }),
    seed: 1,
    memoryBudgetBytes: 0,
  })
  const heap = createHeap(0)
  if (takenBytes > 0) heap.allocateUncounted(takenBytes)
  const kernels = openKernels(heap, width)
  const stage = createStage(shape, heap, {
    run: (name, units, ...given) => kernels[name](0, units, ...given),
    threads: 1,
  })
  const values = new Float32Array(shape.layout.length)
  for (const { name, offset } of [...shape.layout.trained, ...shape.layout.untrained])
    values.set(one.parameters[name]!.values, offset)
  writeState(stage, { layers: range, values }, false)
  return stage
}

const elementsOf = ({ input }: ReferenceCase) =>
  input.dtype === 'int32' ? Int32Array.from(input.values) : Float32Array.from(input.values)

/** Output, gradients and state by the names of the reference. */
export function runCase(one: ReferenceCase, width: KernelWidth, takenBytes = 0): Numbers {
  const stage = stageOfCase(one, width, takenBytes)
  const batch = one.input.shape[0]!
  const input = elementsOf(one)
  if (!one.training) return new Map([['output', infer(stage, batch, input)]])
  const output = forward(stage, { microBatch: 0, predictUpdates: 0, batch, input })
  const byInput = backward(stage, 0, Float32Array.from(one.outputGradient.values))
  const { layout, setup } = stage.shape
  const sums = stage.heap.floats(stage.updater.sums, layout.trainedLength)
  const state = readState(stage, setup.layers).values
  return new Map([
    ['output', output],
    ...(byInput === undefined ? [] : [['gradient of the input', byInput] as const]),
    ...layout.trained.map(
      ({ name, offset, length }) => [`gradient of ${name}`, sums.slice(offset, offset + length)] as const,
    ),
    ...layout.untrained.map(
      ({ name, offset, length }) => [`state ${name}`, state.slice(offset, offset + length)] as const,
    ),
  ])
}
