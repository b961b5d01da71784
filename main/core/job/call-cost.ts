/** What a call of an engine costs, however little it computes: the way to its thread and back, and what it sets up. */
import { recipe } from '../../../shared/job/recipe.ts'
import { median } from '../../../shared/median.ts'
import { modelGraph } from '../../../shared/model/graph.ts'
import { floatTensor } from '../../../shared/tensor.ts'
import { type Millis, type Seconds, second } from '../../../shared/units.ts'
import { initialState } from '../model/initial-state.ts'
import type { Clock, StageEngine } from '../ports.ts'
import type { PassEngine } from './run-pass.ts'

/** Some FLOPs: what its passes take is what calls take. */
const tiny = modelGraph.parse({
  format: 'rookery-model/1',
  name: 'calls',
  task: 'classify',
  input: { type: 'values', shape: [4] },
  layers: [
    { type: 'dense', name: 'first', units: 4 },
    { type: 'dense', name: 'last', units: 4 },
  ],
  loss: { type: 'cross-entropy' },
})
const input = floatTensor(new Float32Array(4), [1, 4])

/** The engine has no stage, and gets one of hardly any work. @throws what the engine throws */
export async function loadTinyStage(engine: PassEngine): Promise<void> {
  const { optimizer, learningRate } = recipe.parse({})
  await engine.load({
    ...{ graph: tiny, layers: [0, 1], optimizer, learningRate, seed: 0 },
    ...{ memoryBudgetBytes: 0, recompute: false },
  })
  await engine.writeState(initialState(tiny, [0, 1], 0))
}

/** Two calls of the tiny stage: a micro-batch forward and backward. */
export async function tinyPass(engine: PassEngine, microBatch: number): Promise<void> {
  // Its output as its gradient teaches nothing, but it takes as long.
  await engine.backward(microBatch, await engine.forward({ microBatch, input, predictUpdates: 0 }))
}

export const callsOfTinyPass = 2

/** The first passes compile. */
const warmUp = 20
const measured = 100
const budgetMs: Millis = second / 2

/**
 * The median over some passes of a stage that computes hardly anything, a call's part. The engine's stage is unloaded
 * afterwards.
 *
 * @throws what the engine throws
 */
export async function measureCalls({
  engine,
  clock,
}: {
  readonly engine: StageEngine
  readonly clock: Clock
}): Promise<Seconds> {
  const began = clock.now()
  const times: Millis[] = []
  try {
    await loadTinyStage(engine)
    for (let pass = 0; pass < warmUp + measured; pass++) {
      const before = clock.now()
      if (times.length > 0 && before - began > budgetMs) break
      await tinyPass(engine, pass)
      if (pass >= warmUp || before - began > budgetMs / 2) times.push(clock.now() - before)
    }
  } finally {
    await engine.unload()
  }
  return median(times) / second / callsOfTinyPass
}
