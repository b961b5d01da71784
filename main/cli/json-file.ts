/** Files of JSON that people write: read once, checked once, refused in one sentence. */
import { readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { z } from 'zod'
import { InvalidInputError } from '../../shared/errors.ts'
import { mebibyte } from '../../shared/units.ts'
import { schemaFault } from './schema-fault.ts'

/** Larger than any sensible pool or graph. */
const maxFileBytes = 64 * mebibyte

/** @throws InvalidInputError naming the file and the first field that is wrong */
export async function readJsonFile<S extends z.ZodType>(path: string, schema: S): Promise<z.output<S>> {
  const name = basename(path)
  const parsed = schema.safeParse(parse(name, await readText(path)))
  if (parsed.success) return parsed.data
  throw new InvalidInputError(`${name}: ${schemaFault(parsed.error)}`)
}

async function readText(path: string): Promise<string> {
  try {
    const { size } = await stat(path)
    if (size > maxFileBytes) throw new InvalidInputError(`${path} is too large to be a file of ours`)
    return await readFile(path, 'utf8')
  } catch (thrown) {
    if (thrown instanceof InvalidInputError) throw thrown
    const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
    throw new InvalidInputError(
      `cannot read ${path}${code === 'ENOENT' ? ': there is no such file' : ` (${code})`}`,
    )
  }
}

function parse(name: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : ''
    throw new InvalidInputError(`${name} is not JSON; correct it: ${reason}`)
  }
}
