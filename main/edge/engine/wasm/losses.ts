/** Losses with their gradients, and what is counted beside them. N labels, V classes. */
import { InvalidInputError } from '../../../../shared/errors.ts'
import type { Loss, Tally } from '../../../../shared/model/graph.ts'
import type { HostTensor } from '../../../../shared/tensor.ts'
import { checked } from '../checks.ts'
import type { Plan, Wire } from './plan.ts'

/** Labels that were checked, and how many of them count. */
export interface Labels {
  readonly data: Float32Array | Int32Array
  readonly counted: number
}

/** @throws InvalidInputError when labels do not suit the loss or the output */
export function labelsFor(loss: Loss, labels: HostTensor, outputShape: readonly number[]): Labels {
  if (loss.type === 'mean-squared-error') {
    const expected = {
      what: 'targets for mean squared error',
      dtype: 'float32',
      shape: outputShape,
    } as const
    const { data } = checked(labels, expected)
    return { data, counted: data.length }
  }
  const shape = outputShape.slice(0, -1)
  const { data } = checked(labels, { what: 'labels for cross-entropy', dtype: 'int32', shape })
  return { data, counted: countLabels(data, outputShape.at(-1) ?? 1, loss.ignoreLabel) }
}

function countLabels(labels: Float32Array | Int32Array, classes: number, ignore: number): number {
  let counted = 0
  for (const label of labels) {
    if (label === ignore) continue
    if (label < 0 || label >= classes)
      throw new InvalidInputError(`label ${label} is not one of the model's ${classes} classes`)
    counted += 1
  }
  return counted
}

/** A loss at the end of a plan. */
export interface PlannedLoss {
  /** Where labels are to be written before it runs: int32 or float32, as the loss has them. */
  readonly labels: Wire
  /** The gradient by the output; undefined where only the loss is wanted. */
  readonly gradient: Wire | undefined
  /** Judge the output, and what was seen. @param at - addresses of the run */
  readonly judge: (at: (wire: Wire) => number, counted: number) => Tally
}

/** @param wanted - whether the gradient is wanted; it may take the output's place */
export function planLoss(
  plan: Plan,
  loss: Loss,
  { wire: output, classes }: { wire: Wire; classes: number },
  wanted: boolean,
): PlannedLoss {
  const gradient = wanted ? plan.borrow(output.length) : undefined
  if (loss.type === 'mean-squared-error') return planSquaredError(plan, output, gradient)
  const rows = output.length / classes
  const [labels, seen] = [plan.borrow(rows), plan.borrow(3 * rows)]
  return {
    labels,
    gradient,
    judge(at, counted) {
      const share = 1 / Math.max(1, counted)
      const by = gradient ? at(gradient) : 0
      plan.run('crossEntropy', rows, classes, at(output), at(labels), loss.ignoreLabel, share, by, at(seen))
      return tallyOf(plan.heap.floats(at(seen), 3 * rows), counted)
    },
  }
}

/** Sums of (loss, first guess, first five) a row. */
function tallyOf(seen: Float32Array, labels: number): Tally {
  let [lossSum, correct, correctTop5] = [0, 0, 0]
  for (let row = 0; row < seen.length; row += 3) {
    lossSum += seen[row] ?? 0
    correct += seen[row + 1] ?? 0
    correctTop5 += seen[row + 2] ?? 0
  }
  return { lossSum, labels, correct, correctTop5 }
}

function planSquaredError(plan: Plan, output: Wire, gradient: Wire | undefined): PlannedLoss {
  const labels = plan.borrow(output.length)
  return {
    labels,
    gradient,
    judge(at, counted) {
      const by = gradient ? at(gradient) : 0
      const lossSum = plan.run('squaredError', output.length, at(output), at(labels), 1 / counted, by)
      return { lossSum, labels: counted, correct: 0, correctTop5: 0 }
    },
  }
}
