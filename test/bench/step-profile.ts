/** Which kernels take what share of a step. */
import { createHeap } from '../../main/edge/engine/wasm/memory/heap.ts'
import type { RunKernel } from '../../main/edge/engine/wasm/plan.ts'
import { forwardLoss } from '../../main/edge/engine/wasm/calls.ts'
import { createStage } from '../../main/edge/engine/wasm/stage.ts'
import { stageShape } from '../../main/edge/engine/wasm/stage-shape.ts'
import { writeState } from '../../main/edge/engine/wasm/state.ts'
import { createThreadPool } from '../../main/edge/engine/wasm/thread-pool.ts'
import { initialState } from '../../main/core/model/initial-state.ts'
import { type Subject, batchOf, setupOf } from './step-models.ts'

const warmUps = 3
const least = 0.002

/** Milliseconds a step by kernel on one thread and on two, largest first; `rest` is what no kernel does. */
export async function profileStep(subject: Subject): Promise<Record<string, number>> {
  const [one, two] = [await profileOn(subject, 1), await profileOn(subject, 2)]
  const total = one.get('step') ?? 0
  const figures: Record<string, number> = {}
  for (const [name, milliseconds] of [...one].sort(([, a], [, b]) => b - a)) {
    if (milliseconds < least * total) continue
    figures[`${subject.name} ${name} 1 ms`] = milliseconds
    figures[`${subject.name} ${name} 2 ms`] = two.get(name) ?? 0
  }
  return figures
}

async function profileOn(subject: Subject, threads: number): Promise<ReadonlyMap<string, number>> {
  const heap = createHeap(0)
  const pool = await createThreadPool(heap, 'wide', { threads })
  const spent = new Map<string, number>()
  const run: RunKernel = (name, ...given) => {
    const before = performance.now()
    const result = pool.run(name, ...given)
    spent.set(name, (spent.get(name) ?? 0) + performance.now() - before)
    return result
  }
  const setup = setupOf(subject)
  const stage = createStage(stageShape(setup), heap, { run, threads })
  writeState(stage, initialState(setup.graph, setup.layers, 0), false)
  const { input, labels } = batchOf(subject)
  const steps = subject.steps * 10
  let began = 0
  for (let microBatch = -warmUps * subject.steps; microBatch < steps; microBatch++) {
    if (microBatch === 0) {
      spent.clear()
      began = performance.now()
    }
    forwardLoss(stage, { microBatch, input, labels, predictUpdates: 0 })
    stage.updater.update()
  }
  const whole = performance.now() - began
  pool.stop()
  const kernels = [...spent.values()].reduce((sum, each) => sum + each, 0)
  const shares = [...spent, ['rest', whole - kernels] as const, ['step', whole] as const]
  return new Map(shares.map(([name, milliseconds]) => [name, milliseconds / steps]))
}
