/** `rookery predict`: what a finished model says to a row, a picture or a prompt. */
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { type HostTensor, floatsOf } from '../../../shared/tensor.ts'
import { createPredictionInput, createPrompt, isFile, nameOfClass } from '../../edge/data/prediction.ts'
import type { LoadedModel } from '../../edge/store/trained-models.ts'
import type { EngineThread } from '../agent-parts.ts'
import { withModel } from './whole-model.ts'

/** How many answers a person wants to see. */
const shownGuesses = 5
/** Bytes that a prompt is continued by. */
const continuedBytes = 200

export interface Prediction {
  /** Its file's name, its row counted from 0, or words for what was given in place. */
  readonly sample: string
  /** Classes or tokens, the most probable first. Absent for regression. */
  readonly best?: readonly { readonly label: string; readonly probability: number }[]
  /** The output of a regression. */
  readonly values?: readonly number[]
  /** Of a text model: what it writes after the prompt, the most probable byte each time. */
  readonly continuation?: string
}

/** @param task.input - a file's path, the values of one sample with commas between, or a prompt @throws InvalidInputError */
export function predictTask(task: {
  readonly modelDirectory: string
  readonly input: string
}): Promise<readonly Prediction[]> {
  return withModel(task.modelDirectory, async (model, engine) => {
    if (model.graph.task === 'next-token') return [await continueText(engine, model, task.input)]
    const input = await createPredictionInput(task.input, trained(model))
    const output = await engine.infer(input)
    const given = (await isFile(task.input)) ? basename(task.input) : 'what was given'
    return rowsOf(output).map((row, index) => answer(model, row, nameOf(given, index, input)))
  })
}

const trained = ({ graph, spec }: LoadedModel) => ({ graph, data: spec.data })
const nameOf = (given: string, row: number, { shape }: HostTensor) => (shape[0] === 1 ? given : String(row))

function rowsOf(output: HostTensor): readonly Float32Array[] {
  const values = floatsOf(output)
  const rows = output.shape[0] ?? 1
  const width = values.length / rows
  return Array.from({ length: rows }, (_, row) => values.subarray(row * width, (row + 1) * width))
}

function answer({ graph, spec }: LoadedModel, row: Float32Array, sample: string): Prediction {
  if (graph.task === 'regress') return { sample, values: [...row] }
  return { sample, best: bestOf(row, (index) => nameOfClass(spec.data, index)) }
}

/** The most probable entries of a row of logits. */
function bestOf(logits: Float32Array, label: (index: number) => string) {
  const highest = logits.reduce((most, value) => Math.max(most, value), -Infinity)
  const weights = logits.map((value) => Math.exp(value - highest))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const order = [...weights.keys()].sort((a, b) => (weights[b] ?? 0) - (weights[a] ?? 0))
  return order
    .slice(0, shownGuesses)
    .map((index) => ({ label: label(index), probability: (weights[index] ?? 0) / total }))
}

async function continueText(engine: EngineThread, model: LoadedModel, input: string): Promise<Prediction> {
  const inFile = await isFile(input)
  const prompt = inFile ? await readFile(input) : Buffer.from(input)
  let text: Uint8Array = prompt
  let best: Prediction['best'] = []
  for (let written = 0; written < continuedBytes; written++) {
    const { tensor, position } = createPrompt(text, trained(model))
    const output = await engine.infer(tensor)
    const width = output.shape.at(-1) ?? 1
    const logits = floatsOf(output).subarray(position * width, (position + 1) * width)
    const next = logits.reduce(
      (most, value, index) => (value > (logits[most] ?? -Infinity) ? index : most),
      0,
    )
    if (written === 0) best = bestOf(logits, (index) => JSON.stringify(String.fromCharCode(index)))
    text = Buffer.concat([text, Uint8Array.of(next)])
  }
  const continuation = Buffer.from(text.subarray(prompt.length)).toString('utf8')
  return { sample: inFile ? basename(input) : input, best, continuation }
}
