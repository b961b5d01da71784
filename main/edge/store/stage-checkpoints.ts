/** The numbers of a stage, kept across a pause or crash: the last two saves of a job, each with its own hash. */
import { createHash } from 'node:crypto'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import type { StateVector } from '../../core/ports.ts'
import { PoolError } from '../../../shared/errors.ts'
import { type Bytes, mebibyte } from '../../../shared/units.ts'
import { type OpenFile, hasCode, openFile, writing } from './files.ts'
import { type NamedTensor, type SafetensorsFile, openSafetensors, writeSafetensors } from './safetensors.ts'

/** What is kept of a stage. */
export interface SavedStage {
  readonly updates: number
  readonly state: StateVector
  /** Of the optimizer, where the engine gave them. */
  readonly moments?: readonly Float32Array[]
}

const keptSaves = 2
const suffix = '.safetensors'
const maxMoments = 8
/** Hashed in one go: a few milliseconds. */
const hashedAtOnce: Bytes = 4 * mebibyte

const count = z.coerce.number().int().min(0)
const metadata = z.object({ updates: count, from: count, to: count, sha256: z.string() })

/** Hash over what the save means: updates, layers and all numbers. */
async function checksum(facts: string, tensors: readonly NamedTensor[]): Promise<string> {
  const sha = createHash('sha256').update(facts)
  for (const { values } of tensors) {
    for (let offset = 0; offset < values.byteLength; offset += hashedAtOnce) {
      const length = Math.min(hashedAtOnce, values.byteLength - offset)
      sha.update(new Uint8Array(values.buffer, values.byteOffset + offset, length))
      await setImmediate()
    }
  }
  return sha.digest('hex')
}

/** Numbers of the saves in a folder, newest last. */
async function listSaves(folder: string): Promise<readonly number[]> {
  const names = await readdir(folder).catch((thrown: unknown) => {
    if (hasCode(thrown, 'ENOENT')) return []
    throw thrown
  })
  const numbers = names.flatMap((name) => {
    const [, digits] = /^(\d{1,15})\.safetensors$/.exec(name) ?? []
    return digits === undefined ? [] : [Number(digits)]
  })
  return numbers.sort((a, b) => a - b)
}

/** Keep a stage beside the save before it; older ones go. @throws DiskFullError; the saves before are untouched */
export async function saveStageFile(
  folder: string,
  stage: SavedStage,
  openForWriting: OpenFile = openFile,
): Promise<void> {
  await writing(folder, () => mkdir(folder, { recursive: true, mode: 0o700 }))
  const saves = await listSaves(folder)
  const [from, to] = stage.state.layers
  const tensors = [stage.state.values, ...(stage.moments ?? [])].map((values, index) => ({
    name: index === 0 ? 'state' : `moment-${index - 1}`,
    shape: [values.length],
    values,
  }))
  const facts = { updates: String(stage.updates), from: String(from), to: String(to) }
  const sha256 = await checksum(JSON.stringify(facts), tensors)
  const number = (saves.at(-1) ?? 0) + 1
  await writeSafetensors(
    join(folder, `${number}${suffix}`),
    { tensors, metadata: { ...facts, sha256 } },
    openForWriting,
  )
  for (const old of saves.slice(0, Math.max(0, saves.length + 1 - keptSaves)))
    await rm(join(folder, `${old}${suffix}`), { force: true })
}

async function readVector(file: SafetensorsFile, name: string): Promise<Float32Array | undefined> {
  const info = file.tensors.get(name)
  if (info?.dtype !== 'F32') return undefined
  const values = new Float32Array((info.end - info.begin) / 4)
  await file.readFloats(name, values)
  return values
}

async function readStage(file: SafetensorsFile): Promise<SavedStage | undefined> {
  const facts = metadata.safeParse(file.metadata)
  const state = await readVector(file, 'state')
  if (!facts.success || state === undefined) return undefined
  const moments: Float32Array[] = []
  for (let index = 0; index < maxMoments; index++) {
    const moment = await readVector(file, `moment-${index}`)
    if (moment === undefined) break
    moments.push(moment)
  }
  const { updates, from, to, sha256 } = facts.data
  const tensors = [state, ...moments].map((values) => ({ name: '', shape: [], values }))
  const said = JSON.stringify({ updates: String(updates), from: String(from), to: String(to) })
  if ((await checksum(said, tensors)) !== sha256) return undefined
  const stage = { updates, state: { layers: [from, to] as const, values: state } }
  return moments.length === 0 ? stage : { ...stage, moments }
}

/** The newest save that is whole; undefined when there is none. */
export async function loadStageFile(folder: string): Promise<SavedStage | undefined> {
  for (const number of (await listSaves(folder)).toReversed()) {
    try {
      const file = await openSafetensors(join(folder, `${number}${suffix}`))
      try {
        const stage = await readStage(file)
        if (stage !== undefined) return stage
      } finally {
        await file.close()
      }
    } catch (thrown) {
      // A save that is no safetensors file was broken by a crash or a disk: the one before it counts.
      if (!(thrown instanceof PoolError)) throw thrown
    }
  }
  return undefined
}
