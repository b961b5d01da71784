/** Files that are written whole or not at all. */
import { type FileHandle, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DiskFullError, InvalidInputError } from '../../../shared/errors.ts'
import { type Bytes, mebibyte } from '../../../shared/units.ts'

/** What writing needs of an open file. */
export type WritableFile = Pick<FileHandle, 'write' | 'sync' | 'close'>
/** Opens a file for writing, emptied. Replaced in tests by a disk that is full. */
export type OpenFile = (path: string) => Promise<WritableFile>

export const openFile: OpenFile = (path) => open(path, 'w', 0o600)

const full = ['ENOSPC', 'EDQUOT']
/** Bytes of one write: large enough for a quick disk, small enough that others get their turn. */
const writtenAtOnce: Bytes = 4 * mebibyte

export function hasCode(thrown: unknown, ...codes: readonly string[]): boolean {
  return thrown instanceof Error && codes.includes((thrown as NodeJS.ErrnoException).code ?? '')
}

/** Runs a write. @throws DiskFullError in place of the system's code for it */
export async function writing<T>(path: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (thrown) {
    if (!hasCode(thrown, ...full)) throw thrown
    throw new DiskFullError(
      `the disk is full, so "${path}" was not written: what was saved before is still there; free some space`,
    )
  }
}

async function writeAll(file: WritableFile, bytes: Uint8Array): Promise<void> {
  for (let offset = 0; offset < bytes.length;) {
    const length = Math.min(writtenAtOnce, bytes.length - offset)
    offset += (await file.write(bytes, offset, length)).bytesWritten
  }
}

/**
 * Write parts one after the other, then put the file in its place: a reader sees the old or the new.
 * @throws DiskFullError; the old file is untouched
 */
export async function writeWhole(
  path: string,
  parts: Iterable<Uint8Array>,
  openForWriting: OpenFile = openFile,
): Promise<void> {
  const temporary = `${path}.new`
  try {
    await writing(path, async () => {
      const file = await openForWriting(temporary)
      try {
        for (const part of parts) await writeAll(file, part)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(temporary, path)
    })
    await syncFolder(dirname(path))
  } catch (thrown) {
    await rm(temporary, { force: true })
    throw thrown
  }
}

/** Make renames within a folder survive a power cut, where the system can. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

export async function exists(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT', 'ENOTDIR')) return false
    throw thrown
  }
}

/** A JSON file's value; undefined where there is no file. @throws InvalidInputError naming the file */
export async function readJson(path: string, maxBytes: Bytes): Promise<unknown> {
  try {
    const { size } = await stat(path)
    if (size > maxBytes) throw new InvalidInputError(`"${path}" is larger than ${maxBytes} bytes`)
    return JSON.parse(await readFile(path, 'utf8')) as unknown
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT', 'ENOTDIR')) return undefined
    if (thrown instanceof SyntaxError) throw new InvalidInputError(`"${path}" is not JSON: ${thrown.message}`)
    throw thrown
  }
}
