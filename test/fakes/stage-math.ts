/**
 * The arithmetic of the fake engine as pure functions: dense, relu and batch-norm layers with cross-entropy, SGD and
 * Adam. A test can so repeat a run with nothing but arrays of past weights.
 * Legend: B samples of the micro-batch, I inputs, O outputs of a layer.
 */
import { InvariantError } from '../../shared/errors.ts'
import type { Optimizer } from '../../shared/job/recipe.ts'
import type { LayerRange, ModelGraph, Tally } from '../../shared/model/graph.ts'
import { type StateLayout, layoutOfGraph, stateLayout } from '../../shared/model/layout.ts'
import { elementCount } from '../../shared/tensor.ts'

interface Cell {
  readonly kind: 'dense' | 'relu' | 'batch-norm'
  readonly inputs: number
  readonly outputs: number
  /** Of each parameter in the stage's numbers, by its last name. */
  readonly offsets: Readonly<Record<string, number>>
  readonly momentum: number
  readonly epsilon: number
}

/** What a stage computes. */
export interface Program {
  readonly cells: readonly Cell[]
  readonly layout: StateLayout
  readonly outputShape: readonly number[]
  readonly inputShape: readonly number[]
}

export function programOf(graph: ModelGraph, layers: LayerRange): Program {
  const layouts = layoutOfGraph(graph)
  const layout = stateLayout(layouts, layers)
  const cells = graph.layers.slice(...layers).map((layer, index): Cell => {
    const at = layouts[layers[0] + index]!
    if (layer.type !== 'dense' && layer.type !== 'relu' && layer.type !== 'batch-norm')
      throw new InvariantError(`the fake engine has no ${layer.type}`)
    const placed = [...layout.trained, ...layout.untrained].filter(({ name }) =>
      name.startsWith(`${layer.name}/`),
    )
    return {
      kind: layer.type,
      inputs: elementCount(at.inputShape),
      outputs: elementCount(at.outputShape),
      offsets: Object.fromEntries(placed.map(({ name, offset }) => [name.split('/').at(-1)!, offset])),
      momentum: layer.type === 'batch-norm' ? layer.momentum : 0,
      epsilon: layer.type === 'batch-norm' ? layer.epsilon : 0,
    }
  })
  const { inputShape } = layouts[layers[0]]!
  return { cells, layout, inputShape, outputShape: layouts[layers[1] - 1]!.outputShape }
}

export interface Pass {
  readonly output: Float32Array // [B, O]
  /** Input of every cell. */
  readonly inputs: readonly Float32Array[]
  /** The stage's numbers with moved running statistics; the same array where there are none. */
  readonly values: Float32Array
}

/** Mean and variance of a channel: of the micro-batch while training, the running ones otherwise. */
function statistics(cell: Cell, values: Float32Array, x: Float32Array, training: boolean) {
  const { outputs: width, offsets } = cell
  const size = x.length / width
  return Array.from({ length: width }, (_, channel) => {
    if (!training)
      return {
        mean: values[offsets['running-mean']! + channel]!,
        variance: values[offsets['running-variance']! + channel]!,
      }
    const column = Array.from({ length: size }, (_, row) => x[row * width + channel]!)
    const mean = column.reduce((sum, value) => sum + value, 0) / size
    const variance = column.reduce((sum, value) => sum + (value - mean) ** 2, 0) / size
    return { mean, variance }
  })
}

function runDense({ inputs, outputs, offsets }: Cell, values: Float32Array, x: Float32Array): Float32Array {
  const { bias, weight = 0 } = offsets
  const y = new Float32Array((x.length / inputs) * outputs) // [B, O]
  for (let at = 0; at < y.length; at++) {
    const column = at % outputs
    const row = ((at - column) / outputs) * inputs
    let sum = bias === undefined ? 0 : values[bias + column]!
    for (let i = 0, place = weight + column; i < inputs; i++, place += outputs)
      sum += x[row + i]! * values[place]!
    y[at] = sum
  }
  return y
}

function runNorm(cell: Cell, values: Float32Array, x: Float32Array, training: boolean): Float32Array {
  const { outputs, offsets, epsilon } = cell
  const by = statistics(cell, values, x, training)
  return x.map((value, at) => {
    const { mean, variance } = by[at % outputs]!
    const scale = values[offsets['scale']! + (at % outputs)]!
    return (
      ((value - mean) / Math.sqrt(variance + epsilon)) * scale + values[offsets['shift']! + (at % outputs)]!
    )
  })
}

function moveRunning(cell: Cell, values: Float32Array, x: Float32Array): Float32Array {
  const moved = values.slice()
  const size = x.length / cell.outputs
  statistics(cell, values, x, true).forEach(({ mean, variance }, channel) => {
    const fresh = { 'running-mean': mean, 'running-variance': (variance * size) / Math.max(1, size - 1) }
    for (const [name, value] of Object.entries(fresh)) {
      const at = cell.offsets[name]! + channel
      moved[at] = cell.momentum * moved[at]! + (1 - cell.momentum) * value
    }
  })
  return moved
}

function rectified(x: Float32Array): Float32Array {
  const y = x.slice()
  for (let at = 0; at < y.length; at++) y[at] = Math.max(0, y[at]!)
  return y
}

function whereActive(dy: Float32Array, x: Float32Array): Float32Array {
  const dx = dy.slice()
  for (let at = 0; at < dx.length; at++) if (!(x[at]! > 0)) dx[at] = 0
  return dx
}

/** Forward through a stage: x [B, I] at the stage's numbers. */
export function runForward(program: Program, values: Float32Array, x: Float32Array, training: boolean): Pass {
  const inputs: Float32Array[] = []
  let flowing = x
  let moved = values
  for (const cell of program.cells) {
    inputs.push(flowing)
    if (cell.kind === 'batch-norm' && training) moved = moveRunning(cell, moved, flowing)
    if (cell.kind === 'dense') flowing = runDense(cell, values, flowing)
    else if (cell.kind === 'relu') flowing = rectified(flowing)
    else flowing = runNorm(cell, values, flowing, training)
  }
  return { output: flowing, inputs, values: moved }
}

interface BackwardOfCell {
  readonly cell: Cell
  readonly values: Float32Array
  readonly x: Float32Array
  readonly dy: Float32Array
  /** Of all the stage's trained numbers; added to. */
  readonly gradient: Float32Array
}

/** dW = xᵀ·dy, db = Σ dy, dx = dy·Wᵀ. */
function denseBackward({ cell, values, x, dy, gradient }: BackwardOfCell): Float32Array {
  const { inputs, outputs } = cell
  const { bias, weight = 0 } = cell.offsets
  const dx = new Float32Array(x.length)
  for (let at = 0; at < dy.length; at++) {
    const column = at % outputs
    const row = ((at - column) / outputs) * inputs
    const slope = dy[at]!
    if (bias !== undefined) gradient[bias + column]! += slope
    for (let i = 0, place = weight + column; i < inputs; i++, place += outputs) {
      gradient[place]! += x[row + i]! * slope
      dx[row + i]! += values[place]! * slope
    }
  }
  return dx
}

function normBackward({ cell, values, x, dy, gradient }: BackwardOfCell): Float32Array {
  const { outputs, offsets, epsilon } = cell
  const size = x.length / outputs
  const dx = new Float32Array(x.length)
  statistics(cell, values, x, true).forEach(({ mean, variance }, channel) => {
    const spread = Math.sqrt(variance + epsilon)
    const rows = Array.from({ length: size }, (_, row) => row * outputs + channel)
    const hat = (at: number) => (x[at]! - mean) / spread
    const sum = rows.reduce((all, at) => all + dy[at]!, 0)
    const along = rows.reduce((all, at) => all + dy[at]! * hat(at), 0)
    gradient[offsets['shift']! + channel]! += sum
    gradient[offsets['scale']! + channel]! += along
    const scale = values[offsets['scale']! + channel]! / (spread * size)
    for (const at of rows) dx[at] = scale * (size * dy[at]! - sum - hat(at) * along)
  })
  return dx
}

/** Backward of a pass at the numbers of that pass. `dy` [B, O] → input gradient [B, I], gradient of the trained numbers. */
export function runBackward(program: Program, values: Float32Array, pass: Pass, dy: Float32Array) {
  const gradient = new Float32Array(program.layout.trainedLength)
  let flowing = dy
  for (const [index, cell] of [...program.cells.entries()].reverse()) {
    const x = pass.inputs[index]!
    const given = { cell, values, x, dy: flowing, gradient }
    if (cell.kind === 'dense') flowing = denseBackward(given)
    else if (cell.kind === 'batch-norm') flowing = normBackward(given)
    else flowing = whereActive(flowing, x)
  }
  return { inputGradient: flowing, gradient }
}

/** Cross-entropy of logits [B, O]: the tally, and the gradient of the mean loss by the logits. */
export function crossEntropy(logits: Float32Array, labels: Int32Array) {
  const classes = logits.length / labels.length
  const tally = { lossSum: 0, labels: labels.length, correct: 0, correctTop5: 0 }
  const gradient = new Float32Array(logits.length)
  labels.forEach((label, row) => {
    const scores = logits.subarray(row * classes, (row + 1) * classes)
    const highest = Math.max(...scores)
    const sum = scores.reduce((all, score) => all + Math.exp(score - highest), 0)
    const better = scores.filter((score) => score > scores[label]!).length
    tally.lossSum += highest + Math.log(sum) - scores[label]!
    tally.correct += better < 1 ? 1 : 0
    tally.correctTop5 += better < 5 ? 1 : 0
    scores.forEach((score, index) => {
      const share = Math.exp(score - highest) / sum
      gradient[row * classes + index] = (share - (index === label ? 1 : 0)) / labels.length
    })
  })
  return { tally: tally satisfies Tally, gradient }
}

/** A stage's numbers and the optimizer's memory; never changed, only replaced. */
export interface Weights {
  readonly values: Float32Array
  readonly moments: readonly Float32Array[]
  readonly updates: number
}

export function freshWeights({ layout }: Program, optimizer: Optimizer): Weights {
  const moment = () => new Float32Array(layout.trainedLength)
  return {
    values: new Float32Array(layout.length),
    moments: optimizer.type === 'sgd' ? [moment()] : [moment(), moment()],
    updates: 0,
  }
}

/** What one update of this direction would subtract, at the moments as they are. */
function direction(optimizer: Optimizer, { moments, updates }: Weights): Float32Array {
  const [first, second] = moments
  if (optimizer.type === 'sgd') return first!.map((velocity) => optimizer.learningRate * velocity)
  const one = 1 - optimizer.beta1 ** updates
  const two = 1 - optimizer.beta2 ** updates
  return first!.map(
    (mean, at) =>
      (optimizer.learningRate * (mean / one)) / (Math.sqrt(second![at]! / two) + optimizer.epsilon),
  )
}

/** The weights after `count` more updates like the last. */
export function predictAhead(optimizer: Optimizer, weights: Weights, count: number): Float32Array {
  const values = weights.values.slice()
  if (count === 0 || weights.updates === 0) return values
  const change = direction(optimizer, weights)
  for (let at = 0; at < change.length; at++) values[at]! -= count * change[at]!
  return values
}

/** One update with a gradient of the trained numbers. No weight decay. */
export function applyUpdate(optimizer: Optimizer, weights: Weights, gradient: Float32Array): Weights {
  const [first, second] = weights.moments
  const moments =
    optimizer.type === 'sgd'
      ? [first!.map((velocity, at) => optimizer.momentum * velocity + gradient[at]!)]
      : [
          first!.map((mean, at) => optimizer.beta1 * mean + (1 - optimizer.beta1) * gradient[at]!),
          second!.map((mean, at) => optimizer.beta2 * mean + (1 - optimizer.beta2) * gradient[at]! ** 2),
        ]
  const next = { values: weights.values.slice(), moments, updates: weights.updates + 1 }
  const change = direction(optimizer, next)
  for (let at = 0; at < change.length; at++) next.values[at]! -= change[at]!
  return next
}
