/** Whether data suits a model: asked before anything is written, answered in one sentence. */
import { InvalidInputError } from '../../../shared/errors.ts'
import type { DataSource } from '../../../shared/job/data.ts'
import type { ModelGraph, Task } from '../../../shared/model/graph.ts'
import { layoutOfGraph } from '../../../shared/model/layout.ts'
import { elementCount } from '../../../shared/tensor.ts'

/** Shape of a sample that the model takes: its values, or its tokens. */
export function inputShapeOf(graph: ModelGraph): readonly number[] {
  return graph.input.type === 'tokens' ? [graph.input.length] : graph.input.shape
}

/** Shape of what the model says about one sample. */
export function outputShapeOf(graph: ModelGraph): readonly number[] {
  return layoutOfGraph(graph).at(-1)?.outputShape ?? inputShapeOf(graph)
}

/** Classes, or tokens, that the model can tell apart. */
export function outputWidthOf(graph: ModelGraph): number {
  return outputShapeOf(graph).at(-1) ?? 1
}

const tasksOf: Readonly<Record<DataSource['type'], readonly Task[]>> = {
  csv: ['classify', 'regress'],
  images: ['classify'],
  idx: ['classify'],
  cifar10: ['classify'],
  text: ['next-token', 'masked-token'],
}

/** Kind of source, task, input and loss belong together. @throws InvalidInputError */
export function checkSourceSuits(source: DataSource, graph: ModelGraph): void {
  const tasks = tasksOf[source.type]
  if (!tasks.includes(graph.task))
    throw new InvalidInputError(
      `${source.type} data serves ${tasks.join(' or ')}, but the task of model "${graph.name}" is ${graph.task}`,
    )
  const wanted = source.type === 'text' ? 'tokens' : 'values'
  if (graph.input.type !== wanted)
    throw new InvalidInputError(
      `${source.type} data becomes ${wanted}, but model "${graph.name}" takes ${graph.input.type}`,
    )
  checkLossSuits(graph)
}

function checkLossSuits(graph: ModelGraph): void {
  const wanted = graph.task === 'regress' ? 'mean-squared-error' : 'cross-entropy'
  if (graph.loss.type !== wanted)
    throw new InvalidInputError(`the task ${graph.task} needs the loss ${wanted}, not ${graph.loss.type}`)
  const shape = outputShapeOf(graph)
  const rank = graph.input.type === 'tokens' ? 2 : 1
  if (shape.length !== rank || (graph.task === 'regress' && elementCount(shape) !== 1))
    throw new InvalidInputError(
      `the output [${shape.join(', ')}] of model "${graph.name}" does not suit the task ${graph.task}: ` +
        `it should be ${graph.task === 'regress' ? '[1]' : rank === 2 ? '[length, tokens]' : '[classes]'}`,
    )
}

/** The sample's elements are as many as the model takes; their shape may differ. @throws InvalidInputError */
export function checkElements(what: string, shape: readonly number[], graph: ModelGraph): void {
  const wanted = inputShapeOf(graph)
  if (elementCount(shape) === elementCount(wanted)) return
  throw new InvalidInputError(
    `${what} has ${elementCount(shape)} values a sample, but model "${graph.name}" takes ` +
      `${elementCount(wanted)} ([${wanted.join(', ')}])`,
  )
}
