/** Pictures in a folder a class, scaled to what the model takes. */
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { InvalidInputError } from '../../../../shared/errors.ts'
import type { DataSource } from '../../../../shared/job/data.ts'
import type { ModelGraph } from '../../../../shared/model/graph.ts'
import { readingFault, stopIfAborted } from './bytes.ts'
import type { ReadingContext, Sample, SampleStream } from './samples.ts'

/** [height, width, channels] of a model's input. */
export type ImageShape = readonly [height: number, width: number, channels: number]

const picture = /\.(png|jpe?g)$/i
/** Pictures decoded side by side: enough for the cores of a PC, few enough for its memory. */
const decodedAtOnce = 8

export function isPicture(path: string): boolean {
  return picture.test(path)
}

/** The image shape of a model. @throws InvalidInputError when it takes something else */
export function imageShapeOf(graph: ModelGraph): ImageShape {
  const shape = graph.input.type === 'values' ? graph.input.shape : []
  const [height, width, channels] = shape
  if (shape.length !== 3 || height === undefined || width === undefined || (channels !== 1 && channels !== 3))
    throw new InvalidInputError(
      `model "${graph.name}" takes no pictures: its input should be [height, width, 1 or 3]`,
    )
  return [height, width, channels]
}

/** Bytes [H, W, C] of a picture file, stretched to the shape. @throws InvalidInputError naming the file */
export async function readPicture(path: string, [height, width, channels]: ImageShape): Promise<Uint8Array> {
  // Loaded here: an agent that never sees a picture must not need sharp's native part.
  const { default: sharp } = await import('sharp')
  const file = await readFile(path).catch((thrown: unknown) => {
    throw readingFault(thrown, path)
  })
  try {
    const { data, info } = await sharp(file)
      .autoOrient()
      .removeAlpha()
      .resize(width, height, { fit: 'fill' })
      .toColourspace(channels === 1 ? 'b-w' : 'srgb')
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true })
    if (info.channels !== channels || data.length !== height * width * channels)
      throw new InvalidInputError(`cannot read "${path}": it has ${info.channels} channels`)
    return data
  } catch (thrown) {
    if (thrown instanceof InvalidInputError) throw thrown
    throw new InvalidInputError(`cannot read "${path}" as a picture: it is damaged or no PNG or JPEG`)
  }
}

interface LabelledPath {
  readonly path: string
  readonly label: string
}

async function listPictures(folder: string): Promise<readonly LabelledPath[]> {
  const pictures: LabelledPath[] = []
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    const labels = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
    for (const label of labels.sort()) {
      const names = await readdir(join(folder, label))
      for (const name of names.filter(isPicture).sort())
        pictures.push({ path: join(folder, label, name), label })
    }
  } catch (thrown) {
    throw readingFault(thrown, folder)
  }
  if (pictures.length === 0)
    throw new InvalidInputError(
      `"${folder}" holds no pictures: put PNG or JPEG files into one folder a class inside it`,
    )
  return pictures
}

/** Opens a folder of pictures. @throws InvalidInputError naming the folder or file */
export async function openImages(
  source: Extract<DataSource, { type: 'images' }>,
  context: ReadingContext,
): Promise<SampleStream> {
  const shape = imageShapeOf(context.graph)
  const pictures = await listPictures(source.path)
  async function* samples(): AsyncGenerator<Sample, void> {
    for (let first = 0; first < pictures.length; first += decodedAtOnce) {
      stopIfAborted(context.signal)
      const group = pictures.slice(first, first + decodedAtOnce)
      const inputs = await Promise.all(group.map(({ path }) => readPicture(path, shape)))
      for (const [index, { path, label }] of group.entries())
        yield { input: inputs[index] ?? new Uint8Array(0), label, place: () => `"${path}"` }
    }
  }
  return {
    dtype: 'uint8',
    shape,
    normalize: 'per-last-axis',
    samples: samples(),
    close: () => Promise.resolve(),
  }
}
