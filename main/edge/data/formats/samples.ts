/** What every format that has one label a sample becomes: a stream of equal records, each with the label's text. */
import type { ModelGraph } from '../../../../shared/model/graph.ts'

/** One sample. */
export interface Sample {
  /** Elements in the stream's shape; the memory is the reader's, valid until the next sample. */
  readonly input: Float32Array | Uint8Array
  /** A class name, or a number as text. */
  readonly label: string
  /** Where it stands, for a message: `row 7 of "x.csv"`. */
  readonly place: () => string
}

/** Samples of one source, read once from start to end. */
export interface SampleStream {
  readonly dtype: 'float32' | 'uint8'
  /** Shape of one input. */
  readonly shape: readonly number[]
  /** One mean and deviation for all elements, one an element of the last axis, or stored values as they are. */
  readonly normalize: 'global' | 'per-last-axis' | 'none'
  /** Class names in label order, where the format itself fixes them. */
  readonly classes?: readonly string[]
  readonly samples: AsyncIterable<Sample>
  /** Close what is open, read to the end or not. */
  close(): Promise<void>
}

/** What a reader needs beside its own part of the source. */
export interface ReadingContext {
  readonly graph: ModelGraph
  readonly signal?: AbortSignal | undefined
}
