/** What a job is and asks of a PC, for someone who does not take part yet. */
import type { Recipe } from '../../../shared/job/recipe.ts'
import type { JobSpec } from '../../../shared/job/spec.ts'
import type { Header } from '../../../shared/messages/wire.ts'
import type { ModelGraph } from '../../../shared/model/graph.ts'
import { layoutOfGraph, stateLayout } from '../../../shared/model/layout.ts'
import { profileOf } from '../model/profile.ts'

type Summary = Omit<
  Header<'job-summary'>,
  'type' | 'job' | 'plan' | 'hostName' | 'members' | 'open' | 'outlook'
>

/** Numbers of a model, state that is not trained included, and the memory that a whole copy takes to train. */
export function wholeModel(graph: ModelGraph, recipe: Recipe): Pick<Summary, 'parameters' | 'memoryBytes'> {
  const { layers, microBatch, inFlight, stateFactor } = profileOf(graph, recipe)
  const bytesOf = layers.map(
    ({ parameterBytes, workingBytesPerSample }) =>
      parameterBytes * (1 + stateFactor) + microBatch * inFlight * workingBytesPerSample,
  )
  return {
    parameters: stateLayout(layoutOfGraph(graph), [0, graph.layers.length]).length,
    memoryBytes: bytesOf.reduce((sum, bytes) => sum + bytes, 0),
  }
}

export function summaryOf({ name, graph, recipe }: JobSpec): Summary {
  const profile = profileOf(graph, recipe)
  const { layers, microBatch, accumulate, averageEveryUpdates } = profile
  // The last layer's output stays where the loss is.
  const borders = layers.slice(0, -1).map((layer) => layer.activationBytesPerSample)
  const forward = layers.reduce((sum, layer) => sum + layer.flopsPerSample, 0)
  return {
    ...{ name, model: graph.name },
    ...wholeModel(graph, recipe),
    // Whoever is asked has memory for more than the least, or it would not be asked.
    flopsPerSample: forward * (1 + (profile.keepingBackwardFactor ?? profile.backwardFactor)),
    activationBytesPerSample: borders.length === 0 ? [0, 0] : [Math.min(...borders), Math.max(...borders)],
    samplesBetweenAverages: averageEveryUpdates * accumulate * microBatch,
  }
}
