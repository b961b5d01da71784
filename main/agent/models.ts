/** Models by name, by file, or as they are. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { InvalidInputError } from '../../shared/errors.ts'
import type { ModelGraph } from '../../shared/model/graph.ts'
import { mebibyte } from '../../shared/units.ts'
import { checkGraph } from '../core/model/check-graph.ts'

const presetFolder = join(import.meta.dirname, '../../resources/models')
/** The largest preset is 5 kB; a graph of 2048 layers stays below this. */
const maxGraphBytes = 4 * mebibyte

/** Names of the models that come with Rookery. */
export async function presetNames(): Promise<readonly string[]> {
  const files = await readdir(presetFolder)
  return files.filter((file) => file.endsWith('.json')).map((file) => basename(file, '.json'))
}

/** A checked graph from a preset's name, a file's path, or a graph. @throws InvalidInputError in one sentence */
export async function resolveModel(model: string | ModelGraph): Promise<ModelGraph> {
  if (typeof model !== 'string') return checkGraph(model)
  const presets = await presetNames()
  if (presets.includes(model)) return checkGraph(await readJson(join(presetFolder, `${model}.json`)))
  if (!model.endsWith('.json'))
    throw new InvalidInputError(
      `there is no model "${model}"; take ${presets.join(', ')}, or the path of a .json file`,
    )
  try {
    return checkGraph(await readJson(model))
  } catch (error) {
    if (error instanceof InvalidInputError) throw new InvalidInputError(`${model}: ${error.message}`)
    throw error
  }
}

/** @throws InvalidInputError for a file that is missing, too large or not JSON */
export async function readJson(path: string): Promise<unknown> {
  try {
    const { size } = await stat(path)
    if (size > maxGraphBytes)
      throw new InvalidInputError(`${path}: larger than any such file is (${size} bytes)`)
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    if (error instanceof InvalidInputError) throw error
    const reason = error instanceof SyntaxError ? `not valid JSON (${error.message})` : 'cannot be read'
    throw new InvalidInputError(`${path}: ${reason}`)
  }
}
