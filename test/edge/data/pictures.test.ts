import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { byRow, idxFile, prepared, rows, temporaryFile, temporaryFolder, valuesModel } from './fixtures.ts'

const raw = { rows: rows(0, 2), epoch: 0 }

/** A PNG of one colour. */
function plain(red: number, green: number, blue: number): Promise<Buffer> {
  return sharp({ create: { width: 5, height: 3, channels: 3, background: { r: red, g: green, b: blue } } })
    .png()
    .toBuffer()
}

describe('a folder of pictures', () => {
  async function folder() {
    const path = await temporaryFolder()
    await mkdir(join(path, 'red'))
    await mkdir(join(path, 'blue'))
    await writeFile(join(path, 'red', 'a.png'), await plain(200, 0, 0))
    await writeFile(join(path, 'blue', 'b.png'), await plain(0, 0, 100))
    await writeFile(join(path, 'blue', 'notes.txt'), 'not a picture')
    return path
  }

  it('is scaled to the model, labelled by folder and normalised by channel', async () => {
    const { manifest, batches } = await prepared(
      { type: 'images', path: await folder() },
      valuesModel([2, 2, 3], 2),
    )
    const labels = (await batches.labels(raw)).data
    expect(manifest.classes).toEqual(['blue', 'red'])
    expect(manifest.inputs).toMatchObject({ dtype: 'uint8', shape: [2, 2, 3] })
    expect(manifest.normalization).toEqual({ subtract: [100, 0, 50], divide: [100, 1, 50] })
    const inputs = byRow((await batches.inputs(raw)).data, 12)
    const pixel = (label: number) => inputs[labels.indexOf(label)]?.slice(0, 3)
    expect([pixel(1), pixel(0)]).toEqual([
      [1, 0, -1],
      [-1, 0, 1],
    ])
  })

  it('becomes grey for a model of one channel', async () => {
    const { manifest } = await prepared({ type: 'images', path: await folder() }, valuesModel([2, 2, 1], 2))
    expect(manifest.inputs.shape).toEqual([2, 2, 1])
  })

  it('with a damaged file is refused by its name', async () => {
    const path = await folder()
    const whole = await plain(1, 2, 3)
    await writeFile(join(path, 'red', 'c.png'), whole.subarray(0, whole.length - 20))
    await expect(prepared({ type: 'images', path }, valuesModel([2, 2, 3], 2))).rejects.toThrow(
      /red\/c\.png" as a picture: it is damaged or no PNG or JPEG/,
    )
  })
})

describe('IDX files', () => {
  const pixels = [1, 2, 3, 4, 11, 12, 13, 14]
  async function open(images: Buffer, labels: Buffer) {
    const source = {
      type: 'idx' as const,
      images: await temporaryFile('images', images),
      labels: await temporaryFile('labels', labels),
    }
    return prepared(source, valuesModel([4], 8), { like: {} })
  }

  it('give images and labels, plain or gzip', async () => {
    const { manifest, batches } = await open(gzipSync(idxFile([2, 2, 2], pixels)), idxFile([2], [7, 3]))
    const labels = (await batches.labels(raw)).data
    const found = byRow((await batches.inputs(raw)).data, 4).map((row, index) => [
      ...row,
      manifest.classes?.[labels[index] ?? 9],
    ])
    expect(found.toSorted()).toEqual([
      [1, 2, 3, 4, '7'],
      [11, 12, 13, 14, '3'],
    ])
    expect(manifest.inputs.shape).toEqual([2, 2, 1])
  })

  it('whose head or length is wrong are refused by name', async () => {
    const labels = idxFile([2], [7, 3])
    await expect(open(Buffer.from('P5 2 2 255'), labels)).rejects.toThrow(/images" is not an IDX file/)
    await expect(open(idxFile([2, 2, 2], pixels.slice(1)), labels)).rejects.toThrow(
      /images" ends after 1 of 2/,
    )
    await expect(open(idxFile([2, 2, 2], [...pixels, 0]), labels)).rejects.toThrow(
      /images" goes on after the 2/,
    )
    await expect(open(idxFile([2, 2, 2], pixels), idxFile([3], [7, 3, 1]))).rejects.toThrow(
      /2 images, but .* 3 labels/,
    )
    await expect(open(labels, labels)).rejects.toThrow(/holds labels, not images/)
  })
})

describe('CIFAR-10 batches', () => {
  const record = (label: number) =>
    Buffer.from([
      label,
      ...Array.from({ length: 3072 }, (_, index) => (index < 1024 ? index % 256 : index >> 10)),
    ])
  const read = async (content: Buffer) =>
    prepared(
      { type: 'cifar10', paths: [await temporaryFile('batch.bin', content)] },
      valuesModel([32, 32, 3], 10),
      {
        like: {
          classes: ['airplane', 'automobile', 'bird', 'cat', 'deer', 'dog', 'frog', 'horse', 'ship', 'truck'],
        },
      },
    )

  it('turn planes into pixels and keep their class numbers', async () => {
    const { batches } = await read(record(9))
    const one = { rows: rows(0, 1), epoch: 0 }
    const inputs = byRow((await batches.inputs(one)).data, 3)
    expect(inputs[0]).toEqual([0, 1, 2])
    expect(inputs[1023]).toEqual([255, 1, 2])
    expect((await batches.labels(one)).data[0]).toBe(9)
  })

  it('that are cut or have other labels are refused', async () => {
    await expect(read(Buffer.concat([record(1), record(2).subarray(0, 99)]))).rejects.toThrow(
      /record 1 ends after 99 bytes/,
    )
    await expect(read(record(10))).rejects.toThrow(/record 0 has label 10, above 9/)
  })
})
