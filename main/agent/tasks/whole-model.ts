/** A finished model on an engine, whole, ready to answer. */
import { recipe } from '../../../shared/job/recipe.ts'
import { type LoadedModel, loadModel } from '../../edge/store/trained-models.ts'
import type { EngineThread } from '../agent-parts.ts'
import { startAnyEngine } from '../engine.ts'

/** Load, use, give back. @throws InvalidInputError for a folder that holds no model */
export async function withModel<T>(
  directory: string,
  use: (model: LoadedModel, engine: EngineThread) => Promise<T>,
): Promise<T> {
  const model = await loadModel(directory)
  const engine = await startAnyEngine()
  try {
    const layers = [0, model.graph.layers.length] as const
    await engine.load({
      graph: model.graph,
      layers,
      // It only answers; the optimizer is never asked.
      optimizer: recipe.parse({ optimizer: { type: 'sgd', learningRate: 1 } }).optimizer,
      learningRate: { type: 'constant', warmupUpdates: 0 },
      seed: 0,
      memoryBudgetBytes: 0,
    })
    await engine.writeState({ layers, values: model.state })
    return await use(model, engine)
  } finally {
    await engine.stop()
  }
}
