/** Shards in memory, time that stands still, and links that a test can spoil. */
import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { type FetchRequest, fetchShards, serveShards, shardsNeeded } from '../../../main/core/job/shards.ts'
import type { Clock, Links, ShardStore } from '../../../main/core/ports.ts'
import { AbortedError, PeerLostError } from '../../../shared/errors.ts'
import type { DataManifest, Shard } from '../../../shared/job/data.ts'
import type { WireMessage } from '../../../shared/messages/wire.ts'

export const job = 'c'.repeat(64)
export const mebibyte = 1024 * 1024
export const sha = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** Shards in memory. */
export function memoryStore(initial: readonly Uint8Array[] = []) {
  const sealed = new Map(initial.map((bytes) => [sha(bytes), bytes]))
  const parts = new Map<string, Uint8Array>()
  const store: ShardStore = {
    has: (hash) => Promise.resolve(sealed.has(hash)),
    read: (hash, offset, maxBytes) => Promise.resolve(sealed.get(hash)?.slice(offset, offset + maxBytes)),
    received: (hash) => Promise.resolve(parts.get(hash)?.length ?? 0),
    append(hash, offset, bytes) {
      const before = parts.get(hash) ?? new Uint8Array(0)
      expect(offset).toBe(before.length)
      parts.set(hash, Buffer.concat([before, bytes]))
      return Promise.resolve()
    },
    seal(hash) {
      const bytes = parts.get(hash)
      parts.delete(hash)
      if (bytes === undefined || sha(bytes) !== hash) return Promise.resolve(sealed.has(hash))
      sealed.set(hash, bytes)
      return Promise.resolve(true)
    },
    open: () => {
      throw new PeerLostError('not in this test')
    },
  }
  return { store, sealed, parts }
}

/** Time that passes only when the test says so. */
function stillClock() {
  const sleepers = new Set<() => void>()
  const clock: Clock = {
    now: () => 0,
    sleep: (_, signal) =>
      new Promise((resolve, reject) => {
        const stop = () => {
          sleepers.delete(resolve)
          reject(new AbortedError('stopped'))
        }
        if (signal?.aborted === true) stop()
        else sleepers.add(resolve)
        signal?.addEventListener('abort', stop)
      }),
  }
  return {
    clock,
    /** Let every sleep end as soon as nothing else happens, until the work is done. */
    async passUntil(work: Promise<void>): Promise<void> {
      const state = { over: false }
      const end = () => {
        state.over = true
      }
      work.then(end, end)
      while (!state.over) {
        await new Promise(setImmediate)
        for (const wake of sleepers) wake()
        sleepers.clear()
      }
      await work
    },
    get sleeping() {
      return sleepers.size
    },
  }
}

export const patternOf = (length: number, seed: number) =>
  Uint8Array.from({ length }, (_, index) => index * 7 + seed)
export const shardOf = (bytes: Uint8Array): Shard => ({ hash: sha(bytes), bytes: bytes.length, samples: 1 })

export function manifestOf(inputs: readonly Uint8Array[], labels: readonly Uint8Array[]): DataManifest {
  const column = (all: readonly Uint8Array[]) => ({
    dtype: 'uint8' as const,
    shape: [1],
    shards: all.map(shardOf),
  })
  return {
    format: 'rookery-data/1',
    trainSamples: 1,
    validationSamples: 0,
    inputs: column(inputs),
    labels: column(labels),
  }
}

export const a = patternOf(2.5 * mebibyte, 1)
export const b = patternOf(1000, 2)
export const c = patternOf(mebibyte, 3)
export const manifest = manifestOf([a, b], [c, b])

export type Tamper = (message: WireMessage) => WireMessage | undefined

/** One peer that fetches from others that serve, over links that deliver in a later turn. */
export function pool(
  sources: Readonly<Record<string, { holds: readonly Uint8Array[]; tamper?: Tamper }>>,
  served: DataManifest = manifest,
) {
  const mine = memoryStore()
  const time = stillClock()
  const asked: string[] = []
  const fetcher: { current?: ReturnType<typeof fetchShards> } = {}
  const servers = Object.entries(sources).map(([peer, { holds, tamper }]) => {
    const send: Links['send'] = (_, message) => {
      const sent = tamper === undefined ? message : tamper(message)
      if (sent !== undefined)
        queueMicrotask(() => fetcher.current?.deliver({ peer, standing: 'member' }, sent))
      return Promise.resolve()
    }
    const { store } = memoryStore(holds)
    return [peer, serveShards({ store, links: { send } as Links }, { job, manifest: served })] as const
  })
  const serving = new Map(servers)
  const links = {
    send(to, message) {
      const server = serving.get(to)
      if (server === undefined) return Promise.reject(new PeerLostError(`no way to ${to}`))
      const { header } = message
      asked.push(header.type === 'shard-request' ? `${to} ${header.hash.slice(0, 4)} ${header.offset}` : to)
      queueMicrotask(() => server.deliver({ peer: 'me', standing: 'member' }, message))
      return Promise.resolve()
    },
  } as Partial<Links> as Links
  const request: FetchRequest = {
    job,
    planNumber: () => 4,
    shards: shardsNeeded(served, { inputs: true, labels: true }),
    sources: Object.keys(sources),
    signal: new AbortController().signal,
  }
  const fetch = (rest: Partial<FetchRequest> = {}, store: ShardStore = mine.store) => {
    const started = fetchShards({ store, links, clock: time.clock }, { ...request, ...rest })
    fetcher.current = started
    return started
  }
  return { ...mine, time, asked, fetch }
}

/** The first byte of every piece is another. */
export const spoil: Tamper = ({ header, tensors }) => ({
  header,
  tensors: tensors.map((tensor) => ({ ...tensor, data: Uint8Array.from(tensor.data).with(0, 255) })),
})
