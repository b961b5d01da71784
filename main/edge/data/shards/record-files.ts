/** Fixed-size records out of shard files: small columns from memory, large ones record by record from the disk. */
import { open, readFile } from 'node:fs/promises'
import { BadMessageError, CorruptShardError, InvariantError } from '../../../../shared/errors.ts'
import type { Column, Shard } from '../../../../shared/job/data.ts'
import { bytesPerElement, elementCount } from '../../../../shared/tensor.ts'
import { type Bytes, mebibyte } from '../../../../shared/units.ts'

/** Largest record: a shard holds at least one. */
export const maxRecordBytes: Bytes = 64 * mebibyte

/** Reads records of one column. */
export interface RecordReader {
  readonly recordBytes: Bytes
  /** The records of these rows, one after the other, in memory of their own. @throws CorruptShardError */
  gather(rows: Uint32Array): Promise<Uint8Array<ArrayBuffer>>
}

export interface RecordFiles {
  /** @param total - records that all shards of the column hold @throws BadMessageError when they cannot */
  column(column: Column, total: number): RecordReader
}

/** First row of each shard. @throws BadMessageError when lengths and counts of the manifest disagree */
function firstRows(column: Column, recordBytes: Bytes, total: number): readonly number[] {
  const starts: number[] = []
  let row = 0
  for (const { hash, bytes, samples } of column.shards) {
    if (bytes !== samples * recordBytes)
      throw new BadMessageError(
        `the manifest gives shard ${hash.slice(0, 12)} a length that suits no samples`,
      )
    starts.push(row)
    row += samples
  }
  if (row !== total)
    throw new BadMessageError(`the manifest names ${total} samples, but its shards hold ${row}`)
  return starts
}

/** Index of the last start that is not above the row. */
function shardOf(starts: readonly number[], row: number): number {
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((starts[middle] ?? 0) <= row) low = middle
    else high = middle - 1
  }
  return low
}

/** Least recently used shards go first when memory runs out. */
function createShardCache(pathOf: (hash: string) => string, maxBytes: Bytes) {
  const kept = new Map<string, { readonly bytes: Bytes; readonly data: Promise<Uint8Array> }>()
  let held = 0
  const drop = (hash: string) => {
    held -= kept.get(hash)?.bytes ?? 0
    kept.delete(hash)
  }
  async function load({ hash, bytes }: Shard): Promise<Uint8Array> {
    const data = await readFile(pathOf(hash)).catch((thrown: unknown) => {
      throw missing(hash, thrown)
    })
    if (data.length !== bytes) throw changed(hash)
    return data
  }
  return (shard: Shard): Promise<Uint8Array> => {
    const found = kept.get(shard.hash)
    const entry = found ?? { bytes: shard.bytes, data: load(shard) }
    if (found === undefined) {
      held += shard.bytes
      entry.data.catch(() => {
        if (kept.get(shard.hash) === entry) drop(shard.hash)
      })
    }
    kept.delete(shard.hash)
    kept.set(shard.hash, entry)
    for (const hash of kept.keys()) {
      if (held <= maxBytes || hash === shard.hash) break
      drop(hash)
    }
    return entry.data
  }
}

function missing(hash: string, thrown: unknown): unknown {
  if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') return thrown
  return new InvariantError(`shard ${hash.slice(0, 12)} was opened before it was fetched`)
}

function changed(hash: string): CorruptShardError {
  return new CorruptShardError(
    `shard ${hash.slice(0, 12)} on this disk has another length than when it was checked`,
  )
}

interface Placement {
  /** Which record of the shard. */
  readonly record: number
  /** Which record of the batch. */
  readonly at: number
}

/** Reads shard files found by `pathOf`, with at most `cacheBytes` of them in memory for all columns together. */
export function createRecordFiles(pathOf: (hash: string) => string, cacheBytes: Bytes): RecordFiles {
  const cached = createShardCache(pathOf, cacheBytes)

  async function fromDisk(shard: Shard, places: readonly Placement[], batch: Uint8Array, recordBytes: Bytes) {
    const file = await open(pathOf(shard.hash), 'r').catch((thrown: unknown) => {
      throw missing(shard.hash, thrown)
    })
    try {
      for (const { record, at } of places) {
        const { bytesRead } = await file.read(batch, at * recordBytes, recordBytes, record * recordBytes)
        if (bytesRead !== recordBytes) throw changed(shard.hash)
      }
    } finally {
      await file.close()
    }
  }

  return {
    column(column, total) {
      const recordBytes = bytesPerElement[column.dtype] * elementCount(column.shape)
      if (recordBytes > maxRecordBytes) throw new BadMessageError(`the manifest's samples are too large`)
      const starts = firstRows(column, recordBytes, total)
      const columnBytes = total * recordBytes
      // Rows come in random order: a column that does not stay in memory would load a whole shard for each.
      const inMemory = columnBytes <= cacheBytes / 2
      return {
        recordBytes,
        async gather(rows) {
          const batch = new Uint8Array(rows.length * recordBytes)
          const byShard = new Map<number, Placement[]>()
          for (const [at, row] of rows.entries()) {
            if (row >= total) throw new InvariantError(`row ${row} is not among ${total} samples`)
            const index = shardOf(starts, row)
            const places = byShard.get(index) ?? []
            byShard.set(index, places)
            places.push({ record: row - (starts[index] ?? 0), at })
          }
          for (const [index, places] of byShard) {
            const shard = column.shards[index]
            if (shard === undefined) throw new InvariantError(`there is no shard ${index}`)
            if (!inMemory) {
              await fromDisk(shard, places, batch, recordBytes)
              continue
            }
            const data = await cached(shard)
            for (const { record, at } of places)
              batch.set(data.subarray(record * recordBytes, (record + 1) * recordBytes), at * recordBytes)
          }
          return batch
        },
      }
    },
  }
}
