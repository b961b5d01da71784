/** A user's file as bytes, plain or gzip, without ever holding the whole of it. */
import { type FileHandle, open } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { AbortedError, InvalidInputError, PoolError } from '../../../../shared/errors.ts'

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no file',
  EISDIR: 'it is a folder, and a file is expected',
  EACCES: 'you may not read it',
  Z_DATA_ERROR: 'its gzip data is damaged',
  Z_BUF_ERROR: 'its gzip data ends too early',
}

/** The sentence for a file that cannot be read; errors of ours and aborts pass through. */
export function readingFault(thrown: unknown, path: string): Error {
  if (thrown instanceof PoolError) return thrown
  const fault = thrown instanceof Error ? thrown : new InvalidInputError(String(thrown))
  if (fault.name === 'AbortError') return new AbortedError(`reading "${path}" was stopped`)
  const reason = reasons[(fault as NodeJS.ErrnoException).code ?? ''] ?? fault.message
  return new InvalidInputError(`cannot read "${path}": ${reason}`)
}

/** Throws AbortedError once the signal has fired. */
export function stopIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new AbortedError('reading the data was stopped')
}

async function isGzip(file: FileHandle): Promise<boolean> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(2), 0, 2, 0)
  return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b
}

/** The bytes of a file, unpacked when it begins like gzip. @throws InvalidInputError that names the file */
export async function* openBytes(path: string, signal?: AbortSignal): AsyncGenerator<Uint8Array, void> {
  let file: FileHandle | undefined
  try {
    file = await open(path, 'r')
    const packed = await isGzip(file)
    const raw = file.createReadStream({ start: 0, autoClose: false, ...(signal && { signal }) })
    // A fault of `raw` destroys `unpacked` with it, so that the loop over it throws: nothing to do in the callback.
    const unpacked = packed ? pipeline(raw, createGunzip(), () => undefined) : raw
    yield* unpacked as AsyncIterable<Uint8Array>
  } catch (thrown) {
    throw readingFault(thrown, path)
  } finally {
    await file?.close()
  }
}

/** Takes records of a known size from a stream of chunks. */
export interface ByteReader {
  /** The next `count` bytes, fewer at the end; valid until the next call. */
  take(count: number): Promise<Uint8Array>
  /** Stop early and close the file. */
  close(): Promise<void>
}

/** A reader of fixed-size records. */
export function createByteReader(chunks: AsyncGenerator<Uint8Array, void>): ByteReader {
  let chunk: Uint8Array = new Uint8Array(0)
  let position = 0

  /** Copies from chunk to chunk until `record` is full or the stream ends; says how much there was. */
  async function fill(record: Uint8Array): Promise<number> {
    let filled = 0
    for (;;) {
      const part = chunk.subarray(position, position + record.length - filled)
      record.set(part, filled)
      filled += part.length
      position += part.length
      if (filled === record.length) return filled
      const next = await chunks.next()
      if (next.done === true) return filled
      chunk = next.value
      position = 0
    }
  }

  return {
    async take(count) {
      if (position + count <= chunk.length) {
        position += count
        return chunk.subarray(position - count, position)
      }
      const record = new Uint8Array(count)
      return record.subarray(0, await fill(record))
    },
    async close() {
      await chunks.return(undefined)
    },
  }
}
