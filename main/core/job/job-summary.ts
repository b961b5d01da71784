/** What a job is and asks of a PC, for someone who does not take part yet. */
import type { JobSpec } from '../../../shared/job/spec.ts'
import type { Header } from '../../../shared/messages/wire.ts'
import { bytesPerFloat } from '../../../shared/units.ts'
import { profileOf } from '../model/profile.ts'

type Summary = Omit<Header<'job-summary'>, 'type' | 'job' | 'plan' | 'hostName' | 'members' | 'open'>

export function summaryOf({ name, graph, recipe }: JobSpec): Summary {
  const { layers, microBatch, inFlight, stateFactor, backwardFactor, ...schedule } = profileOf(graph, recipe)
  const sum = (of: (layer: (typeof layers)[number]) => number) =>
    layers.reduce((total, layer) => total + of(layer), 0)
  const parameterBytes = sum((layer) => layer.parameterBytes)
  // The last layer's output stays where the loss is.
  const borders = layers.slice(0, -1).map((layer) => layer.activationBytesPerSample)
  return {
    name,
    model: graph.name,
    parameters: Math.round(parameterBytes / bytesPerFloat),
    memoryBytes:
      parameterBytes * (1 + stateFactor) +
      microBatch * inFlight * sum((layer) => layer.workingBytesPerSample),
    flopsPerSample: sum((layer) => layer.flopsPerSample) * (1 + backwardFactor),
    activationBytesPerSample: borders.length === 0 ? [0, 0] : [Math.min(...borders), Math.max(...borders)],
    samplesBetweenAverages: schedule.averageEveryUpdates * schedule.accumulate * microBatch,
  }
}
