/** IDX, the format of MNIST: big-endian sizes, then bytes; images in one file and labels in another. */
import { InvalidInputError } from '../../../../shared/errors.ts'
import type { DataSource } from '../../../../shared/job/data.ts'
import { elementCount } from '../../../../shared/tensor.ts'
import { checkElements } from '../suitability.ts'
import { type ByteReader, createByteReader, openBytes, stopIfAborted } from './bytes.ts'
import type { ReadingContext, Sample, SampleStream } from './samples.ts'

type IdxSource = Extract<DataSource, { type: 'idx' }>

/** Sizes of the file's axes. @throws InvalidInputError when the head is not that of unsigned bytes */
async function readSizes(bytes: ByteReader, path: string): Promise<readonly number[]> {
  const head = await bytes.take(4)
  const [zero, alsoZero, type, axes = 0] = head
  if (head.length < 4 || zero !== 0 || alsoZero !== 0 || type !== 8 || axes < 1 || axes > 4)
    throw new InvalidInputError(
      `"${path}" is not an IDX file of bytes: it should begin with 00 00 08 and 1 to 4 axes`,
    )
  const sizes = await bytes.take(4 * axes)
  if (sizes.length < 4 * axes) throw new InvalidInputError(`"${path}" ends within its IDX head`)
  const view = new DataView(sizes.buffer, sizes.byteOffset, sizes.byteLength)
  return Array.from({ length: axes }, (_, axis) => view.getUint32(4 * axis))
}

async function checkEnd(bytes: ByteReader, path: string, count: number): Promise<void> {
  const rest = await bytes.take(1)
  if (rest.length > 0)
    throw new InvalidInputError(`"${path}" goes on after the ${count} records that its head promises`)
}

/** [H, W] as an image of one channel; [F] as F values of one kind. */
function sampleShape(sizes: readonly number[]): readonly number[] {
  return sizes.length === 4 ? sizes.slice(1) : [...sizes.slice(1), 1]
}

/** Opens MNIST-like files. @throws InvalidInputError naming the file */
export async function openIdx(source: IdxSource, context: ReadingContext): Promise<SampleStream> {
  const images = createByteReader(openBytes(source.images, context.signal))
  const labels = createByteReader(openBytes(source.labels, context.signal))
  const close = async () => {
    await images.close()
    await labels.close()
  }
  try {
    const imageSizes = await readSizes(images, source.images)
    const labelSizes = await readSizes(labels, source.labels)
    const count = imageSizes[0] ?? 0
    if (imageSizes.length < 2) throw new InvalidInputError(`"${source.images}" holds labels, not images`)
    if (labelSizes.length !== 1) throw new InvalidInputError(`"${source.labels}" holds images, not labels`)
    if (labelSizes[0] !== count)
      throw new InvalidInputError(
        `"${source.images}" holds ${count} images, but "${source.labels}" holds ${labelSizes[0] ?? 0} labels`,
      )
    const shape = sampleShape(imageSizes)
    checkElements(`"${source.images}"`, shape, context.graph)
    async function* samples(): AsyncGenerator<Sample, void> {
      for (let index = 0; index < count; index++) {
        stopIfAborted(context.signal)
        const input = await images.take(elementCount(shape))
        const [label] = await labels.take(1)
        if (input.length < elementCount(shape) || label === undefined)
          throw new InvalidInputError(
            `"${label === undefined ? source.labels : source.images}" ends after ${index} of ${count} records`,
          )
        yield { input, label: String(label), place: () => `image ${index} of "${source.images}"` }
      }
      await checkEnd(images, source.images, count)
      await checkEnd(labels, source.labels, count)
    }
    return { dtype: 'uint8', shape, normalize: 'per-last-axis', samples: samples(), close }
  } catch (thrown) {
    await close()
    throw thrown
  }
}
