/** CIFAR-10's binary batches: a label byte, then 32×32 red, green and blue bytes, plane after plane. */
import { InvalidInputError } from '../../../../shared/errors.ts'
import type { DataSource } from '../../../../shared/job/data.ts'
import { checkElements } from '../suitability.ts'
import { createByteReader, openBytes, stopIfAborted } from './bytes.ts'
import type { ReadingContext, Sample, SampleStream } from './samples.ts'

const shape = [32, 32, 3] as const
const plane = 32 * 32
const recordBytes = 1 + 3 * plane
const classes = [
  'airplane', 'automobile', 'bird', 'cat', 'deer', 'dog', 'frog', 'horse', 'ship', 'truck',
] as const // prettier-ignore

/** Planes [3, H·W] of a record to interleaved pixels [H·W, 3]. */
function interleave(record: Uint8Array, pixels: Uint8Array): void {
  for (let pixel = 0; pixel < plane; pixel++)
    for (let channel = 0; channel < 3; channel++)
      pixels[3 * pixel + channel] = record[1 + channel * plane + pixel] ?? 0
}

async function* readBatch(path: string, signal: AbortSignal | undefined): AsyncGenerator<Sample, void> {
  const bytes = createByteReader(openBytes(path, signal))
  const input = new Uint8Array(3 * plane)
  try {
    for (let index = 0; ; index++) {
      stopIfAborted(signal)
      const record = await bytes.take(recordBytes)
      if (record.length === 0) return
      const label = classes[record[0] ?? classes.length]
      if (record.length < recordBytes || label === undefined)
        throw new InvalidInputError(
          `"${path}" is not a CIFAR-10 batch: record ${index} ` +
            (label === undefined
              ? `has label ${record[0] ?? 0}, above 9`
              : `ends after ${record.length} bytes`),
        )
      interleave(record, input)
      yield { input, label, place: () => `record ${index} of "${path}"` }
    }
  } finally {
    await bytes.close()
  }
}

/** Opens CIFAR-10 batches, one after the other. @throws InvalidInputError naming the file */
export function openCifar10(
  source: Extract<DataSource, { type: 'cifar10' }>,
  context: ReadingContext,
): SampleStream {
  checkElements('CIFAR-10', shape, context.graph)
  async function* samples(): AsyncGenerator<Sample, void> {
    for (const path of source.paths) yield* readBatch(path, context.signal)
  }
  return {
    dtype: 'uint8',
    shape,
    normalize: 'per-last-axis',
    classes,
    samples: samples(),
    close: () => Promise.resolve(),
  }
}
