/** Do the layers of a graph suit what goes in and what its task's labels ask for? */
import { InvalidInputError } from '../../../shared/errors.ts'
import type { ModelGraph } from '../../../shared/model/graph.ts'
import type { Layer } from '../../../shared/model/layers.ts'
import type { Shape } from '../../../shared/model/layout.ts'

/** Token ids go through one token embedding, first of all; values never do. @throws InvalidInputError */
export function checkTokens(graph: ModelGraph): void {
  const embedding =
    graph.input.type === 'tokens' ? checkEmbedding(graph.layers[0], graph.input.vocabulary) : undefined
  for (const { layer, path } of everyLayer(graph.layers)) {
    if (layer.type === 'token-embedding' && layer !== embedding)
      throw new InvalidInputError(
        `layer "${path}" is a token-embedding; only the first layer of a model with tokens as input may be one`,
      )
    if (layer.type === 'attention' && !layer.causal && graph.task === 'next-token')
      throw new InvalidInputError(
        `layer "${path}" would see the tokens it is to guess; a next-token model needs "causal": true`,
      )
  }
}

function checkEmbedding(first: Layer | undefined, vocabulary: number): Layer {
  if (first?.type !== 'token-embedding')
    throw new InvalidInputError(
      `layer "${first?.name ?? ''}" gets token ids; the first layer must be a token-embedding`,
    )
  if (first.vocabulary < vocabulary)
    throw new InvalidInputError(
      `layer "${first.name}" knows ${first.vocabulary} tokens, but the input has ${vocabulary}`,
    )
  return first
}

/** Every layer of a run with its path, nested ones included. */
function* everyLayer(layers: readonly Layer[], above = ''): Generator<{ layer: Layer; path: string }> {
  for (const layer of layers) {
    const path = `${above}${layer.name}`
    yield { layer, path }
    if (layer.type !== 'residual') continue
    yield* everyLayer(layer.body, `${path}/body/`)
    yield* everyLayer(layer.shortcut, `${path}/shortcut/`)
  }
}

/** Loss and output shape are what the task's labels need. @throws InvalidInputError */
export function checkTask(graph: ModelGraph, output: Shape): void {
  const { task } = graph
  const loss = task === 'regress' ? 'mean-squared-error' : 'cross-entropy'
  if (graph.loss.type !== loss)
    throw new InvalidInputError(`model "${graph.name}": task ${task} needs the loss ${loss}`)
  const wanted = outputWanted(graph, output)
  if (wanted === undefined) return
  const last = graph.layers.at(-1)?.name ?? ''
  throw new InvalidInputError(
    `layer "${last}" makes [${output.join(', ')}] of a sample, but task ${task} needs ${wanted}`,
  )
}

/** What the output should have been; undefined when it suits the task. */
function outputWanted({ task, input, name }: ModelGraph, output: Shape): string | undefined {
  if (task === 'regress') return undefined
  if (task === 'classify')
    return isAtLeast(output, [2]) ? undefined : 'one number for each of at least two classes'
  if (input.type !== 'tokens')
    throw new InvalidInputError(`model "${name}": task ${task} needs tokens as input`)
  return output[0] === input.length && isAtLeast(output, [input.length, input.vocabulary])
    ? undefined
    : `[${input.length}, ${input.vocabulary} or more]: a number for each token at each position`
}

function isAtLeast(shape: Shape, least: Shape): boolean {
  return shape.length === least.length && least.every((extent, axis) => (shape[axis] ?? 0) >= extent)
}
