/** Finished models as folders: model.json says what it is, model.safetensors holds its numbers, report.json how it went. */
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { z } from 'zod'
import type { FinishedModel } from '../../core/ports.ts'
import { InvalidInputError, InvariantError } from '../../../shared/errors.ts'
import { jobId } from '../../../shared/ids.ts'
import { jobSpec } from '../../../shared/job/spec.ts'
import type { ModelGraph } from '../../../shared/model/graph.ts'
import { type StateLayout, layoutOfGraph, stateLayout } from '../../../shared/model/layout.ts'
import { describeIssue } from '../../../shared/settings.ts'
import { bytesPerFloat, mebibyte } from '../../../shared/units.ts'
import { type OpenFile, exists, openFile, readJson, syncFolder, writeWhole, writing } from './files.ts'
import { type SafetensorsFile, openSafetensors, writeSafetensors } from './safetensors.ts'

const maxJsonBytes = 64 * mebibyte

const modelFile = z.strictObject({
  format: z.literal('rookery-trained/1'),
  job: jobId,
  /** Graph, task, classes and normalisation; no paths of the host. */
  spec: jobSpec,
})

/** A finished model read back. */
export interface LoadedModel extends FinishedModel {
  readonly job: string
  readonly graph: ModelGraph
}

/** `<job name>-<short id>`, safe on every file system. */
export function modelFolderName(name: string, job: string): string {
  const plain = name
    .normalize('NFKD')
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replaceAll(/^[-.]+|[-.]+$/g, '')
  return `${plain.slice(0, 60) || 'model'}-${job.slice(0, 8)}`
}

const asideOf = (folder: string) => join(dirname(folder), `.${basename(folder)}.previous`)

/** After a crash between the two renames of a replacement, the old model is put back. */
export async function recoverModels(models: string): Promise<void> {
  for (const name of await readdir(models)) {
    const [, base] = /^\.(.+)\.previous$/.exec(name) ?? []
    if (base === undefined) continue
    if (await exists(join(models, base))) await rm(join(models, name), { recursive: true })
    else await rename(join(models, name), join(models, base))
  }
}

function wholeLayout(graph: ModelGraph): StateLayout {
  return stateLayout(layoutOfGraph(graph), [0, graph.layers.length])
}

const placedIn = (layout: StateLayout) => [...layout.trained, ...layout.untrained]
const json = (value: unknown) => [Buffer.from(`${JSON.stringify(value, null, 2)}\n`)]

async function writeFolder(folder: string, job: string, model: FinishedModel, openForWriting: OpenFile) {
  const layout = wholeLayout(model.spec.graph)
  if (model.state.length !== layout.length)
    throw new InvariantError(`${model.state.length} numbers are not the ${layout.length} of the model`)
  const tensors = placedIn(layout).map(({ name, shape, offset, length }) => ({
    name,
    shape,
    values: model.state.subarray(offset, offset + length),
  }))
  const file = { format: 'rookery-trained/1', job, spec: model.spec }
  await writeSafetensors(
    join(folder, 'model.safetensors'),
    { tensors, metadata: { format: 'pt', model: model.spec.graph.name, job } },
    openForWriting,
  )
  await writeWhole(join(folder, 'report.json'), json(model.report), openForWriting)
  await writeWhole(join(folder, 'model.json'), json(file), openForWriting)
}

/**
 * Write a model's folder, in place of an earlier one of the same job.
 *
 * @returns the folder
 * @throws DiskFullError; the earlier model is untouched
 */
export async function saveTrainedModel(
  models: string,
  { job, model }: { readonly job: string; readonly model: FinishedModel },
  openForWriting: OpenFile = openFile,
): Promise<string> {
  const folder = join(models, modelFolderName(model.spec.name, job))
  const temporary = join(models, `.${basename(folder)}.new`)
  try {
    await rm(temporary, { recursive: true, force: true })
    await writing(folder, () => mkdir(temporary))
    await writeFolder(temporary, job, model, openForWriting)
    await replaceFolder(temporary, folder)
  } catch (thrown) {
    await rm(temporary, { recursive: true, force: true })
    throw thrown
  }
  return folder
}

/** No system call replaces a full folder: the old one steps aside first, and comes back if the new cannot. */
async function replaceFolder(temporary: string, folder: string): Promise<void> {
  const aside = asideOf(folder)
  const replaces = await exists(folder)
  if (replaces) {
    await rm(aside, { recursive: true, force: true })
    await rename(folder, aside)
  }
  try {
    await rename(temporary, folder)
  } catch (thrown) {
    if (replaces) await rename(aside, folder)
    throw thrown
  }
  await syncFolder(dirname(folder))
  await rm(aside, { recursive: true, force: true })
}

/** Numbers of the model in the order of its layout. @throws InvalidInputError when names, shapes or lengths differ */
async function readState(file: SafetensorsFile, graph: ModelGraph): Promise<Float32Array> {
  const layout = wholeLayout(graph)
  const placed = placedIn(layout)
  const wrong = (what: string) =>
    new InvalidInputError(`model.safetensors does not belong to model "${graph.name}": ${what}`)
  if (file.tensors.size !== placed.length)
    throw wrong(`it holds ${file.tensors.size} tensors, not ${placed.length}`)
  for (const { name, shape } of placed) {
    const info = file.tensors.get(name)
    if (info === undefined) throw wrong(`tensor "${name}" is missing`)
    if (info.dtype !== 'F32' || info.shape.join() !== shape.join())
      throw wrong(
        `tensor "${name}" is ${info.dtype} [${info.shape.join(', ')}], not F32 [${shape.join(', ')}]`,
      )
  }
  // The checks above hold these numbers to the length of the file.
  const state = new Float32Array(new ArrayBuffer(layout.length * bytesPerFloat))
  for (const { name, offset, length } of placed)
    await file.readFloats(name, state.subarray(offset, offset + length))
  return state
}

/** Read a model's folder. @throws InvalidInputError in one sentence */
export async function loadModel(directory: string): Promise<LoadedModel> {
  const asked = resolve(directory)
  const aside = asideOf(asked)
  const folder = !(await exists(asked)) && (await exists(aside)) ? aside : asked
  const raw = await readJson(join(folder, 'model.json'), maxJsonBytes)
  if (raw === undefined)
    throw new InvalidInputError(`there is no finished model in "${directory}": it has no model.json`)
  const parsed = modelFile.safeParse(raw)
  if (!parsed.success)
    throw new InvalidInputError(`model.json in "${directory}" is not usable: ${describeIssue(parsed.error)}`)
  const { job, spec } = parsed.data
  const report = await readJson(join(folder, 'report.json'), maxJsonBytes)
  const file = await openSafetensors(join(folder, 'model.safetensors'))
  try {
    const state = await readState(file, spec.graph)
    return { job, spec, graph: spec.graph, state, report: isRecord(report) ? report : {} }
  } finally {
    await file.close()
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
