/** Samples in the order read, in a temporary file: they can be picked in another order without being held in memory. */
import { readSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { InvariantError } from '../../../shared/errors.ts'
import { type Bytes, mebibyte } from '../../../shared/units.ts'
import { writing } from './shards/disk-full.ts'
import { spoolPrefix } from './shards/shard-store.ts'

export interface Spool {
  readonly count: number
  /** Keep a copy of the record. @throws DiskFullError */
  add(record: Uint8Array): Promise<void>
  /** Write out what is still in memory; reading begins. */
  finish(): Promise<void>
  /** Copy a record into the target. It was written a moment ago, so it comes from the system's memory. */
  read(index: number, target: Uint8Array): void
  /** Delete the file. */
  close(): Promise<void>
}

/** A spool of records of one size. */
export async function createSpool(folder: string, recordBytes: Bytes): Promise<Spool> {
  const path = join(folder, spoolPrefix + crypto.randomUUID())
  const file = await open(path, 'wx+', 0o600)
  const buffer = new Uint8Array(Math.max(recordBytes, mebibyte - (mebibyte % recordBytes)))
  let filled = 0
  let count = 0
  async function flush(): Promise<void> {
    await writing(folder, () => file.writeFile(buffer.subarray(0, filled)))
    filled = 0
  }
  return {
    get count() {
      return count
    },
    async add(record) {
      if (record.length !== recordBytes)
        throw new InvariantError(`a record of ${record.length} bytes came among those of ${recordBytes}`)
      if (filled === buffer.length) await flush()
      buffer.set(record, filled)
      filled += recordBytes
      count += 1
    },
    finish: flush,
    read(index, target) {
      let read = 0
      while (read < recordBytes) {
        const part = readSync(file.fd, target, read, recordBytes - read, index * recordBytes + read)
        if (part === 0) throw new InvariantError(`the spool ends within record ${index}`)
        read += part
      }
    },
    async close() {
      await file.close()
      await rm(path, { force: true })
    },
  }
}
