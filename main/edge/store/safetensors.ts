/**
 * The safetensors format: an 8-byte little-endian header length, a JSON header, then the numbers of all tensors.
 *
 * Read as from a stranger: every length is checked before anything is allocated.
 * @see https://huggingface.co/docs/safetensors
 */
import { type FileHandle, open } from 'node:fs/promises'
import { z } from 'zod'
import { InvalidInputError, InvariantError } from '../../../shared/errors.ts'
import { describeIssue } from '../../../shared/settings.ts'
import { elementCount } from '../../../shared/tensor.ts'
import { type Bytes, bytesPerFloat, mebibyte } from '../../../shared/units.ts'
import { type OpenFile, hasCode, openFile, writeWhole } from './files.ts'

const lengthBytes = 8
const maxHeaderBytes = 100_000_000
/** Readers map the numbers into memory: they begin where any element may lie. */
const alignment = 8
/** Bytes of one read. */
const readAtOnce: Bytes = 4 * mebibyte

const bitsOf: Readonly<Record<string, number>> = {
  BOOL: 8, U8: 8, I8: 8, F8_E5M2: 8, F8_E4M3: 8, I16: 16, U16: 16, F16: 16, BF16: 16,
  I32: 32, U32: 32, F32: 32, F64: 64, I64: 64, U64: 64,
} // prettier-ignore

/** A tensor to be written: `values.length` is the product of `shape`. */
export interface NamedTensor {
  readonly name: string
  readonly shape: readonly number[]
  readonly values: Float32Array
}

const offset = z.int().min(0)
const tensorInfo = z.object({
  dtype: z.string(),
  shape: z.array(offset).max(16),
  data_offsets: z.tuple([offset, offset]),
})
const header = z.looseObject({ __metadata__: z.record(z.string(), z.string()).optional() })

function headerBytes(
  tensors: readonly NamedTensor[],
  metadata: Readonly<Record<string, string>>,
): Uint8Array {
  const entries: Record<string, unknown> = { __metadata__: metadata }
  let begin = 0
  for (const { name, shape, values } of tensors) {
    if (values.length !== elementCount(shape) || Object.hasOwn(entries, name))
      throw new InvariantError(`tensor "${name}" comes twice, or its shape does not suit its numbers`)
    const end = begin + values.length * bytesPerFloat
    entries[name] = { dtype: 'F32', shape, data_offsets: [begin, end] }
    begin = end
  }
  const json = Buffer.from(JSON.stringify(entries))
  const padded = Math.ceil(json.length / alignment) * alignment
  const bytes = Buffer.alloc(lengthBytes + padded, ' ')
  bytes.writeBigUInt64LE(BigInt(padded))
  json.copy(bytes, lengthBytes)
  return bytes
}

/** Write float32 tensors, atomically and without a copy of them. @throws DiskFullError */
export async function writeSafetensors(
  path: string,
  content: { readonly tensors: readonly NamedTensor[]; readonly metadata: Readonly<Record<string, string>> },
  openForWriting: OpenFile = openFile,
): Promise<void> {
  const numbers = content.tensors.map(
    ({ values }) => new Uint8Array(values.buffer, values.byteOffset, values.byteLength),
  )
  await writeWhole(path, [headerBytes(content.tensors, content.metadata), ...numbers], openForWriting)
}

/** Where a tensor lies in the file. */
export interface TensorInfo {
  readonly dtype: string
  readonly shape: readonly number[]
  /** Bytes from the start of the file. */
  readonly begin: number
  readonly end: number
}

export interface SafetensorsFile {
  readonly tensors: ReadonlyMap<string, TensorInfo>
  readonly metadata: Readonly<Record<string, string>>
  /** Copy a float32 tensor into the target, whose length is the tensor's. @throws InvalidInputError */
  readFloats(name: string, target: Float32Array): Promise<void>
  close(): Promise<void>
}

async function fill(file: FileHandle, target: Uint8Array, position: number): Promise<boolean> {
  for (let filled = 0; filled < target.length;) {
    const length = Math.min(readAtOnce, target.length - filled)
    const { bytesRead } = await file.read(target, filled, length, position + filled)
    if (bytesRead === 0) return false
    filled += bytesRead
  }
  return true
}

/** The header's JSON and where the numbers begin. */
async function readHeader(file: FileHandle, size: Bytes, wrong: (what: string) => InvalidInputError) {
  const prefix = Buffer.alloc(lengthBytes)
  if (!(await fill(file, prefix, 0))) throw wrong('it is too short')
  const length = Number(prefix.readBigUInt64LE())
  if (length > maxHeaderBytes || length > size - lengthBytes)
    throw wrong('its header is longer than the file')
  const bytes = Buffer.alloc(length)
  if (!(await fill(file, bytes, lengthBytes))) throw wrong('it ends within its header')
  try {
    return { json: JSON.parse(bytes.toString('utf8')) as unknown, dataAt: lengthBytes + length }
  } catch {
    throw wrong('its header is not JSON')
  }
}

/** Tensors of the header. They tile the data without gap or overlap, as the format demands. */
function placeTensors(
  json: unknown,
  { dataAt, size }: { readonly dataAt: number; readonly size: Bytes },
  wrong: (what: string) => InvalidInputError,
) {
  const parsed = header.safeParse(json)
  if (!parsed.success) throw wrong(describeIssue(parsed.error))
  const { __metadata__: metadata = {}, ...entries } = parsed.data
  const tensors: [string, TensorInfo][] = Object.entries(entries).map(([name, entry]) => {
    const info = tensorInfo.safeParse(entry)
    if (!info.success) throw wrong(`tensor "${name}": ${describeIssue(info.error)}`)
    const { dtype, shape, data_offsets } = info.data
    const [begin, end] = [dataAt + data_offsets[0], dataAt + data_offsets[1]]
    if ((end - begin) * 8 !== elementCount(shape) * (bitsOf[dtype] ?? Number.NaN))
      throw wrong(`the length of tensor "${name}" is not that of ${dtype} [${shape.join(', ')}]`)
    return [name, { dtype, shape, begin, end }]
  })
  let next = dataAt
  for (const [name, { begin, end }] of tensors.toSorted(
    ([, a], [, b]) => a.begin - b.begin || a.end - b.end,
  )) {
    if (begin !== next || end > size) throw wrong(`tensor "${name}" lies outside the file or over another`)
    next = end
  }
  if (next !== size) throw wrong(`${size - next} bytes belong to no tensor`)
  return { tensors: new Map(tensors), metadata }
}

/** Open a file and check its header. The caller closes it. @throws InvalidInputError in one sentence */
export async function openSafetensors(path: string): Promise<SafetensorsFile> {
  const wrong = (what: string) => new InvalidInputError(`"${path}" is not a whole safetensors file: ${what}`)
  const file = await open(path, 'r').catch((thrown: unknown) => {
    throw hasCode(thrown, 'ENOENT') ? new InvalidInputError(`there is no file "${path}"`) : thrown
  })
  try {
    const { size } = await file.stat()
    const { json, dataAt } = await readHeader(file, size, wrong)
    const { tensors, metadata } = placeTensors(json, { dataAt, size }, wrong)
    return {
      tensors,
      metadata,
      async readFloats(name, target) {
        const info = tensors.get(name)
        if (info?.dtype !== 'F32') throw wrong(`it has no float32 tensor "${name}"`)
        const bytes = new Uint8Array(target.buffer, target.byteOffset, target.byteLength)
        if (info.end - info.begin !== bytes.length) throw wrong(`tensor "${name}" has another length`)
        if (!(await fill(file, bytes, info.begin))) throw wrong(`it ends within tensor "${name}"`)
      },
      close: () => file.close(),
    }
  } catch (thrown) {
    await file.close()
    throw thrown
  }
}
