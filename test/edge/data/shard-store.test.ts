import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { prepareData } from '../../../main/edge/data/prepare.ts'
import { createShardStore } from '../../../main/edge/data/shards/shard-store.ts'
import {
  byRow,
  idxFile,
  prepared,
  rows,
  specOf,
  temporaryFile,
  temporaryFolder,
  tokensModel,
  valuesModel,
} from './fixtures.ts'

const bytes = Uint8Array.from({ length: 1000 }, (_, index) => index % 251)
const hash = createHash('sha256').update(bytes).digest('hex')

describe('a shard store', () => {
  it('goes on with an unfinished download after a restart', async () => {
    const folder = await temporaryFolder()
    await (await createShardStore(folder)).append(hash, 0, bytes.subarray(0, 600))
    const store = await createShardStore(folder)
    expect(await store.received(hash)).toBe(600)
    expect(await store.has(hash)).toBe(false)
    expect(await store.read(hash, 0, 10)).toBeUndefined()
    await store.append(hash, 600, bytes.subarray(600))
    expect(await store.seal(hash)).toBe(true)
    expect(await store.read(hash, 900, 4096)).toEqual(bytes.subarray(900))
    expect(await readdir(folder)).toEqual([hash])
  })

  it('throws corrupt bytes away, so that the download begins anew', async () => {
    const store = await createShardStore(await temporaryFolder())
    await store.append(hash, 0, bytes.with(500, 0))
    expect(await store.seal(hash)).toBe(false)
    expect([await store.has(hash), await store.received(hash)]).toEqual([false, 0])
  })

  it('never leaves its folder, whatever a stranger calls a shard', async () => {
    const folder = await temporaryFolder()
    const store = await createShardStore(join(folder, 'shards'))
    await writeFile(join(folder, 'secret'), 'secret')
    const name = `${'./'.repeat(27)}../secret`.padStart(64, '/')
    expect([await store.has(name), await store.read(name, 0, 9), await store.received(name)]).toEqual([
      false,
      undefined,
      0,
    ])
    await expect(store.append(name, 0, bytes)).rejects.toMatchObject({ code: 'invariant' })
  })

  it('refuses bytes out of turn and parts longer than a shard can be', async () => {
    const store = await createShardStore(await temporaryFolder())
    await expect(store.append(hash, 5, bytes)).rejects.toMatchObject({ code: 'invariant' })
    await expect(store.append(hash, 64 * 1024 * 1024, bytes)).rejects.toMatchObject({ code: 'invariant' })
  })

  it('deletes what no job needs any more', async () => {
    const folder = await temporaryFolder()
    const store = await createShardStore(folder)
    const kept = await store.put(bytes)
    await store.put(bytes.subarray(1))
    await store.append('a'.repeat(64), 0, bytes)
    await store.keepOnly(new Set([kept]))
    expect(await readdir(folder)).toEqual([hash])
  })
})

const canMount = process.platform === 'linux' && process.getuid?.() === 0

describe.runIf(canMount)('on a disk of one mebibyte, a shard that does not fit', () => {
  it('is an error in words, and nothing of it stays', async () => {
    const folder = await temporaryFolder()
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder])
    onTestFinished(() => void execFileSync('umount', [folder]))
    const store = await createShardStore(folder)
    await expect(store.append(hash, 0, new Uint8Array(2e6))).rejects.toMatchObject({ code: 'disk-full' })
    await store.keepOnly(new Set())
    await expect(store.put(new Uint8Array(2e6))).rejects.toMatchObject({ code: 'disk-full' })
    const text = await temporaryFile('x.txt', new Uint8Array(2e6))
    const request = { graph: tokensModel('next-token', 10), validationShare: 0, seed: 0, store }
    await expect(prepareData({ ...request, source: { type: 'text', path: text } })).rejects.toMatchObject({
      code: 'disk-full',
    })
    expect(await readdir(folder)).toEqual([])
  })
})

describe('rows of shards', () => {
  // A sample of 64 KiB makes shards of 64 samples: 150 rows lie in three. Its last byte is its label.
  const width = 65_536
  const graph = valuesModel([width], 150)

  async function open(cacheBytes: number) {
    const images = Buffer.alloc(150 * width)
    const labels = rows(0, 150)
    for (const label of labels) images[(label + 1) * width - 1] = label
    const source = {
      type: 'idx' as const,
      images: await temporaryFile('images', idxFile([150, width], images)),
      labels: await temporaryFile('labels', idxFile([150], labels)),
    }
    return prepared(source, graph, { cacheBytes, like: {} })
  }

  it.each([
    ['from memory', 1e9],
    ['from the disk, when they do not fit into it', 1e6],
  ])('are read in any order across shards, %s', async (_, cacheBytes) => {
    const { manifest, batches } = await open(cacheBytes)
    expect(manifest.inputs.shards.map(({ samples }) => samples)).toEqual([64, 64, 22])
    const batch = { rows: Uint32Array.of(149, 0, 64, 63, 0, 128), epoch: 0 }
    const values = byRow((await batches.inputs(batch)).data, width).map((row) => row.at(-1))
    expect(values).toEqual(Array.from((await batches.labels(batch)).data))
    const all = (await batches.labels({ rows: rows(0, 150), epoch: 0 })).data
    expect(Array.from(all).toSorted((a, b) => a - b)).toEqual(Array.from(rows(0, 150)))
  })

  it('are refused when the manifest of a stranger contradicts itself or the model', async () => {
    const { store, manifest } = await open(1e9)
    const broken = structuredClone(manifest)
    broken.inputs.shards[0]!.samples += 1
    expect(() => store.open(broken, specOf(graph, broken))).toThrow(/a length that suits no samples/)
    const more = { ...manifest, trainSamples: 151 }
    expect(() => store.open(more, specOf(graph, more))).toThrow(/names 151 samples, but its shards hold 150/)
    const other = valuesModel([5], 150)
    expect(() => store.open(manifest, specOf(other, manifest))).toThrow(/an input has 65536 elements/)
  })

  it('never hand a label to the engine that the model does not have', async () => {
    const { store, manifest } = await open(1e9)
    const few = valuesModel([width], 100)
    const batches = store.open(manifest, specOf(few, manifest))
    await expect(batches.labels({ rows: rows(0, 150), epoch: 0 })).rejects.toMatchObject({
      code: 'bad-message',
    })
  })

  it('fail in words when a shard is gone or was cut', async () => {
    const { store, manifest, batches } = await open(1e6)
    const [first, second] = manifest.inputs.shards
    await rm(join(store.folder, first!.hash))
    await expect(batches.inputs({ rows: rows(0, 1), epoch: 0 })).rejects.toThrow(/before it was fetched/)
    const path = join(store.folder, second!.hash)
    await writeFile(path, (await readFile(path)).subarray(0, 100))
    await expect(batches.inputs({ rows: rows(64, 65), epoch: 0 })).rejects.toMatchObject({
      code: 'corrupt-shard',
    })
  })
})
