import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createRecordFiles } from '../../../main/edge/data/shards/record-files.ts'
import { temporaryFolder } from './fixtures.ts'

describe('shards in memory', () => {
  it('make room for others once their bytes are used up, the least recently used first', async () => {
    const folder = await temporaryFolder()
    const files = createRecordFiles((hash) => join(folder, hash), 100)
    const open = async (name: string) => {
      await writeFile(join(folder, name), name.repeat(40))
      const shards = [{ hash: name, bytes: 40, samples: 40 }]
      return files.column({ dtype: 'uint8', shape: [1], shards }, 40)
    }
    const first = Uint32Array.of(0)
    const columns = [await open('a'), await open('b'), await open('c')] as const
    for (const column of [columns[0], columns[1], columns[0], columns[2]]) await column.gather(first)
    // 120 bytes are more than 100, and b was used longest ago. With their files gone, only memory can answer.
    for (const name of ['a', 'b', 'c']) await rm(join(folder, name))
    expect(
      String.fromCharCode(...(await columns[0].gather(first)), ...(await columns[2].gather(first))),
    ).toBe('ac')
    await expect(columns[1].gather(first)).rejects.toMatchObject({ code: 'invariant' })
  })
})
