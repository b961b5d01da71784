/** Records of one column, gathered into shards of about 4 MiB. */
import { InvalidInputError } from '../../../shared/errors.ts'
import type { Column, Shard } from '../../../shared/job/data.ts'
import { bytesPerElement, elementCount } from '../../../shared/tensor.ts'
import { type Bytes, mebibyte } from '../../../shared/units.ts'
import { maxRecordBytes } from './shards/record-files.ts'
import type { DiskShardStore } from './shards/shard-store.ts'

/** Small enough that a member soon has one whole, large enough that the manifest stays short. */
const targetShardBytes: Bytes = 4 * mebibyte
const maxShards = 8192

export interface ColumnWriter {
  /** Room for the next record: fill it, then `commit`. */
  next(): Uint8Array
  /** The record is whole. @throws DiskFullError */
  commit(): Promise<void>
  /** Write the last shard. */
  finish(): Promise<Column>
}

/**
 * @param samples - how many will come, where it is known: many samples make larger shards
 * @throws InvalidInputError when one sample is larger than a shard can be
 */
export function createColumnWriter(
  store: DiskShardStore,
  { dtype, shape }: Pick<Column, 'dtype' | 'shape'>,
  samples = 0,
): ColumnWriter {
  const recordBytes = bytesPerElement[dtype] * elementCount(shape)
  const perShard = Math.max(1, Math.floor(targetShardBytes / recordBytes), Math.ceil(samples / maxShards))
  if (recordBytes * perShard > maxRecordBytes)
    throw new InvalidInputError(
      `the data is too large: ${samples} samples of ${recordBytes} bytes do not fit into ${maxShards} shards`,
    )
  const buffer = new Uint8Array(perShard * recordBytes)
  const shards: Shard[] = []
  let held = 0
  async function flush(): Promise<void> {
    const bytes = buffer.subarray(0, held * recordBytes)
    shards.push({ hash: await store.put(bytes), bytes: bytes.length, samples: held })
    held = 0
    if (shards.length > maxShards)
      throw new InvalidInputError(`the data is too large: it needs more than ${maxShards} shards`)
  }
  return {
    next: () => buffer.subarray(held * recordBytes, (held + 1) * recordBytes),
    async commit() {
      held += 1
      if (held === perShard) await flush()
    },
    async finish() {
      if (held > 0) await flush()
      return { dtype, shape: [...shape], shards }
    },
  }
}
