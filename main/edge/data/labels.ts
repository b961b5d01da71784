/** Labels as a source names them, turned into what a model learns: class numbers, or float32 targets. */
import { InvalidInputError } from '../../../shared/errors.ts'
import type { ModelGraph } from '../../../shared/model/graph.ts'
import { parseNumber } from './formats/csv.ts'
import type { Sample } from './formats/samples.ts'
import { outputWidthOf } from './suitability.ts'

/** Labels of all samples, in the order read. */
export interface FinishedLabels {
  readonly dtype: 'uint8' | 'int32' | 'float32'
  /** Of one label: a class number is a scalar, a target a vector of one. */
  readonly shape: readonly number[]
  /** One value a sample. */
  readonly values: Uint8Array | Int32Array | Float32Array
  readonly classes?: readonly string[]
}

export interface LabelCollector {
  /** @throws InvalidInputError that names the sample */
  add(sample: Sample): void
  finish(): FinishedLabels
}

/** A list of numbers that grows in memory of its own: 4 bytes a sample, not a JavaScript object. */
function createNumbers<T extends Int32Array<ArrayBuffer> | Float32Array<ArrayBuffer>>(
  make: (length: number) => T,
) {
  let values = make(1024)
  let length = 0
  return {
    push(value: number): void {
      if (length === values.length) {
        const larger = make(2 * length)
        larger.set(values)
        values = larger
      }
      values[length++] = value
    },
    all: () => values.subarray(0, length) as T,
  }
}

function collectTargets(): LabelCollector {
  const numbers = createNumbers((length) => new Float32Array(length))
  return {
    add({ label, place }) {
      const value = parseNumber(label)
      if (value === undefined)
        throw new InvalidInputError(
          `${place()} has the label "${label.slice(0, 40)}", but a number is expected`,
        )
      numbers.push(value)
    },
    finish: () => ({ dtype: 'float32', shape: [1], values: numbers.all() }),
  }
}

/** `3`, `3.0` and `+3` are one class. */
function className(label: string): string {
  return /^[+-]?\d{1,15}(\.0*)?$/.test(label) ? String(Number(label)) : label
}

/** By value when all are numbers, by character otherwise. */
function inOrder(names: readonly string[]): readonly string[] {
  const numeric = names.every((name) => parseNumber(name) !== undefined)
  return numeric ? names.toSorted((a, b) => Number(a) - Number(b)) : names.toSorted()
}

function checkClassCount(count: number, graph: ModelGraph): void {
  if (count > outputWidthOf(graph))
    throw new InvalidInputError(
      `the data has more classes than the ${outputWidthOf(graph)} outputs of model "${graph.name}": ` +
        'give its last layer one unit a class',
    )
}

function collectClasses(graph: ModelGraph, fixed: readonly string[] | undefined): LabelCollector {
  const numbers = createNumbers((length) => new Int32Array(length))
  const seen = new Map<string, number>((fixed ?? []).map((name, index) => [name, index]))
  checkClassCount(seen.size, graph)
  return {
    add({ label, place }) {
      const name = className(label)
      if (name === '' || name.length > 256)
        throw new InvalidInputError(
          `${place()} has ${name === '' ? 'no label' : 'a label of over 256 characters'}`,
        )
      let number = seen.get(name)
      if (number === undefined) {
        if (fixed !== undefined)
          throw new InvalidInputError(`${place()} has the label "${name}", which the model does not know`)
        number = seen.size
        seen.set(name, number)
        checkClassCount(seen.size, graph)
      }
      numbers.push(number)
    },
    finish() {
      const classes = fixed ?? inOrder([...seen.keys()])
      const rank = new Map(classes.map((name, index) => [name, index]))
      const rankOf = Int32Array.from(seen.keys(), (name) => rank.get(name) ?? 0)
      const ranks = numbers.all().map((number) => rankOf[number] ?? 0)
      return classes.length <= 256
        ? { dtype: 'uint8', shape: [], values: Uint8Array.from(ranks), classes }
        : { dtype: 'int32', shape: [], values: ranks, classes }
    },
  }
}

/**
 * Gathers the labels of a source for a model's task.
 *
 * @param fixed - class names in label order, where the format or an earlier training fixes them
 */
export function createLabelCollector(graph: ModelGraph, fixed?: readonly string[]): LabelCollector {
  return graph.task === 'regress' ? collectTargets() : collectClasses(graph, fixed)
}
