/** What a job trains on: the source on the host's disk, and the manifest of shards that members fetch. */
import { z } from 'zod'

/** Where the host's data lies and how to read it. Paths are the host's own and never leave it. */
export const dataSource = z.discriminatedUnion('type', [
  /** One sample a row; the label column by name or index (negative counts from the end). A header row is detected. */
  z.strictObject({
    type: z.literal('csv'),
    path: z.string().min(1),
    label: z.union([z.string(), z.int()]).default(-1),
    normalize: z.enum(['global', 'per-column', 'none']).default('global'),
  }),
  /** Bytes are tokens; samples are windows that do not overlap. */
  z.strictObject({ type: z.literal('text'), path: z.string().min(1) }),
  /** A folder a class, PNG or JPEG inside; scaled to the model's input. */
  z.strictObject({ type: z.literal('images'), path: z.string().min(1) }),
  /** MNIST's format: a file of images and one of labels, plain or gzip. */
  z.strictObject({ type: z.literal('idx'), images: z.string().min(1), labels: z.string().min(1) }),
  /** CIFAR-10's binary batches: 1 label byte and 3072 pixel bytes a sample. */
  z.strictObject({ type: z.literal('cifar10'), paths: z.array(z.string().min(1)).min(1).max(64) }),
])
export type DataSource = z.infer<typeof dataSource>

const hash = z.string().regex(/^[0-9a-f]{64}$/)
const maxShardBytes = 64 * 1024 * 1024

/** One file of consecutive samples of one column. */
export const shard = z.strictObject({
  /** sha256 of its bytes: its name on disk and on the wire. */
  hash,
  bytes: z.int().min(1).max(maxShardBytes),
  samples: z.int().min(1),
})
export type Shard = z.infer<typeof shard>

/** Fixed-size records, little-endian, sample after sample. */
export const column = z.strictObject({
  dtype: z.enum(['uint8', 'int32', 'float32']),
  /** Shape of one sample. */
  shape: z.array(z.int().min(1).max(65_536)).max(4),
  shards: z.array(shard).min(1).max(8192),
})
export type Column = z.infer<typeof column>

/** value = (stored − subtract) / divide, element by element; one number, or one an element of the last axis. */
export const normalization = z.strictObject({
  subtract: z.array(z.number()).min(1).max(65_536),
  divide: z.array(z.number().positive()).min(1).max(65_536),
})
export type Normalization = z.infer<typeof normalization>

/** Everything a member needs to read the samples of a job. Rows 0..trainSamples-1 train, the rest validates. */
export const dataManifest = z.strictObject({
  format: z.literal('rookery-data/1'),
  trainSamples: z.int().min(1).max(4_294_967_295),
  validationSamples: z.int().min(0).max(4_294_967_295),
  inputs: column,
  labels: column,
  normalization: normalization.optional(),
  /** Class names in label order, where the source names them. */
  classes: z.array(z.string().max(256)).max(100_000).optional(),
})
export type DataManifest = z.infer<typeof dataManifest>

/** Which samples make a micro-batch; `epoch` seeds what is drawn anew each pass (masks). */
export interface BatchRef {
  /** Absolute rows of the manifest. */
  readonly rows: Uint32Array
  readonly epoch: number
}
