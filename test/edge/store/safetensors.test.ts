import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openSafetensors, writeSafetensors } from '../../../main/edge/store/safetensors.ts'
import { temporaryFolder } from './fixtures.ts'

/** A file with this header and so many bytes of numbers. */
async function fileWith(header: unknown, dataBytes: number, headerLength?: number): Promise<string> {
  const json = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header))
  const prefix = Buffer.alloc(8)
  prefix.writeBigUInt64LE(BigInt(headerLength ?? json.length))
  const path = join(await temporaryFolder(), 'x.safetensors')
  await writeFile(path, Buffer.concat([prefix, json, Buffer.alloc(dataBytes)]))
  return path
}

const f32 = (shape: number[], from: number, to: number) => ({ dtype: 'F32', shape, data_offsets: [from, to] })

describe('a safetensors file', () => {
  it('has the bytes that the format prescribes', async () => {
    const path = join(await temporaryFolder(), 'x.safetensors')
    const tensors = [
      { name: 'a/weight', shape: [1, 2], values: Float32Array.of(1, -2) },
      { name: 'b', shape: [], values: Float32Array.of(0.5) },
    ]
    await writeSafetensors(path, { tensors, metadata: { format: 'pt' } })
    const json =
      '{"__metadata__":{"format":"pt"},"a/weight":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},' +
      '"b":{"dtype":"F32","shape":[],"data_offsets":[8,12]}}'
    // 147 characters, padded with spaces to 152 = 0x98; 1 is 3f800000, −2 is c0000000, 0.5 is 3f000000.
    const golden = `9800000000000000${Buffer.from(json.padEnd(152)).toString('hex')}0000803f000000c00000003f`
    expect((await readFile(path)).toString('hex')).toBe(golden)
  })

  it('gives back what was written, without the whole of it in memory', async () => {
    const folder = await temporaryFolder()
    const path = join(folder, 'x.safetensors')
    const values = Float32Array.from({ length: 3_000_000 }, (_, index) => index / 7)
    await writeSafetensors(path, {
      tensors: [{ name: 'x', shape: [3, 1_000_000], values }],
      metadata: { k: 'v' },
    })
    const file = await openSafetensors(path)
    const read = new Float32Array(values.length)
    await file.readFloats('x', read)
    expect(Buffer.from(read.buffer).equals(Buffer.from(values.buffer))).toBe(true)
    expect([file.metadata, file.tensors.get('x')?.shape]).toEqual([{ k: 'v' }, [3, 1_000_000]])
    await expect(file.readFloats('x', new Float32Array(1))).rejects.toThrow(/another length/)
    await expect(file.readFloats('y', read)).rejects.toThrow(/no float32 tensor "y"/)
    await file.close()
    expect(await readdir(folder)).toEqual(['x.safetensors'])
  })

  it.each<[string, unknown, number, number?]>([
    ['its header is longer than the file', {}, 0, 2 ** 40],
    ['its header is longer than the file', {}, 4, 100],
    ['its header is not JSON', '{"a"', 0],
    ['not that of F32 [3]', { a: f32([3], 0, 8) }, 8],
    ['not that of F99 [2]', { a: { ...f32([2], 0, 8), dtype: 'F99' } }, 8],
    ['lies outside the file or over another', { a: f32([3], 0, 12) }, 8],
    ['lies outside the file or over another', { a: f32([2], 0, 8), b: f32([2], 4, 12) }, 12],
    ['lies outside the file or over another', { a: f32([1], 4, 8) }, 8],
    ['4 bytes belong to no tensor', { a: f32([1], 0, 4) }, 8],
    ['tensor "a"', { a: f32([2], -8, 0) }, 8],
    ['tensor "a"', { a: f32([1e300], 0, 8) }, 8],
    ['tensor "a"', { a: 5 }, 8],
  ])('is refused when %s', async (text, header, dataBytes, headerLength) => {
    const path = await fileWith(header, dataBytes, headerLength)
    await expect(openSafetensors(path)).rejects.toMatchObject({
      code: 'invalid-input',
      message: expect.stringContaining(text) as string,
    })
  })
})
