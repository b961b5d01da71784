/** Shards on this disk, named by their hash. An unfinished download is `<hash>.part` and survives a restart. */
import { createHash } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { ShardStore } from '../../../core/ports.ts'
import { InvariantError } from '../../../../shared/errors.ts'
import { type Bytes, mebibyte } from '../../../../shared/units.ts'
import { createBatchSource } from './batch-source.ts'
import { writing } from './disk-full.ts'
import { createRecordFiles } from './record-files.ts'

/** The port, and what the host's preparation needs beside it. */
export interface DiskShardStore extends ShardStore {
  readonly folder: string
  /** Keep the bytes as a shard. @returns its hash @throws DiskFullError */
  put(bytes: Uint8Array): Promise<string>
  /** Delete every shard and unfinished download that is not named. */
  keepOnly(hashes: ReadonlySet<string>): Promise<void>
}

/** Begins the name of the temporary file that a preparation keeps in the folder. */
export const spoolPrefix = '.spool-'

/** Largest shard of a manifest: nobody makes us keep a longer part. */
const maxShardBytes = 64 * mebibyte

// The wire checks only the length of a hash, and it becomes a path here.
const isHash = (text: string) => /^[0-9a-f]{64}$/.test(text)

/** Size of a file, or undefined where there is none. */
async function sizeOf(path: string): Promise<Bytes | undefined> {
  const found = await stat(path).catch((thrown: unknown) => {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw thrown
  })
  return found?.size
}

async function withFile<T>(path: string, flags: string, use: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, flags, 0o600)
  try {
    return await use(file)
  } finally {
    await file.close()
  }
}

/** Bytes from `offset`, fewer at the end of the file. */
async function readAt(file: FileHandle, offset: number, length: Bytes): Promise<Uint8Array> {
  const target = new Uint8Array(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await file.read(target, filled, length - filled, offset + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return target.subarray(0, filled)
}

async function hashOf(file: FileHandle): Promise<string> {
  const sha = createHash('sha256')
  for (let offset = 0; ;) {
    const piece = await readAt(file, offset, mebibyte)
    if (piece.length === 0) return sha.digest('hex')
    sha.update(piece)
    offset += piece.length
  }
}

/** Check an unfinished download and make it a shard; what is corrupt is deleted. */
async function sealPart(folder: string, hash: string): Promise<boolean> {
  const part = join(folder, `${hash}.part`)
  const found = await writing(folder, () =>
    withFile(part, 'r+', async (file) => {
      await file.sync()
      return hashOf(file)
    }),
  )
  if (found === hash) await rename(part, join(folder, hash))
  else await rm(part)
  return found === hash
}

/** A reader sees the whole shard or none. */
async function writeShard(folder: string, hash: string, bytes: Uint8Array): Promise<void> {
  // Not `.part`: a download of the same shard may be under way.
  const temporary = join(folder, `${hash}.new`)
  try {
    await writing(folder, () =>
      withFile(temporary, 'w', async (file) => {
        await file.writeFile(bytes)
        await file.sync()
      }),
    )
    await rename(temporary, join(folder, hash))
  } catch (thrown) {
    await rm(temporary, { force: true })
    throw thrown
  }
}

/** Spools of preparations that were killed. One in use elsewhere survives: its file is open. */
async function removeSpools(folder: string): Promise<void> {
  for (const name of await readdir(folder))
    if (name.startsWith(spoolPrefix)) await rm(join(folder, name)).catch(() => undefined)
}

/** Opens the shards in a folder, which is made when it is missing. */
export async function createShardStore(
  folder: string,
  settings: { readonly cacheBytes?: Bytes } = {},
): Promise<DiskShardStore> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await removeSpools(folder)
  const sealed = (hash: string) => join(folder, hash)
  const part = (hash: string) => join(folder, `${hash}.part`)
  const files = createRecordFiles(sealed, settings.cacheBytes ?? 256 * mebibyte)
  const has = async (hash: string) => isHash(hash) && (await sizeOf(sealed(hash))) !== undefined

  return {
    folder,
    has,
    async read(hash, offset, maxBytes) {
      if (!(await has(hash))) return undefined
      return withFile(sealed(hash), 'r', (file) => readAt(file, offset, Math.min(maxBytes, maxShardBytes)))
    },
    async received(hash) {
      return isHash(hash) ? ((await sizeOf(part(hash))) ?? 0) : 0
    },
    async append(hash, offset, bytes) {
      if (!isHash(hash) || offset + bytes.length > maxShardBytes)
        throw new InvariantError(`${bytes.length} bytes at ${offset} are no part of a shard`)
      const length = (await sizeOf(part(hash))) ?? 0
      if (length !== offset)
        throw new InvariantError(`shard ${hash} goes on at ${length}, but bytes for ${offset} came`)
      await writing(folder, () => withFile(part(hash), 'a', (file) => file.writeFile(bytes)))
    },
    async seal(hash) {
      if (!isHash(hash)) return false
      return (await sizeOf(part(hash))) === undefined ? has(hash) : sealPart(folder, hash)
    },
    async put(bytes) {
      const hash = createHash('sha256').update(bytes).digest('hex')
      if ((await sizeOf(sealed(hash))) !== bytes.length) await writeShard(folder, hash, bytes)
      return hash
    },
    async keepOnly(hashes) {
      const isStray = (name: string) => isHash(name.slice(0, 64)) && !hashes.has(name.slice(0, 64))
      for (const name of (await readdir(folder)).filter(isStray)) await rm(join(folder, name))
    },
    open: (manifest, spec) => createBatchSource(files, manifest, spec),
  }
}
