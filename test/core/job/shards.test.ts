import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type FetchRequest, fetchShards, serveShards, shardsNeeded } from '../../../main/core/job/shards.ts'
import type { Clock, Links, ShardStore } from '../../../main/core/ports.ts'
import { AbortedError, DiskFullError, PeerLostError } from '../../../shared/errors.ts'
import type { DataManifest, Shard } from '../../../shared/job/data.ts'
import type { WireMessage } from '../../../shared/messages/wire.ts'

const job = 'c'.repeat(64)
const mebibyte = 1024 * 1024
const sha = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** Shards in memory. */
function memoryStore(initial: readonly Uint8Array[] = []) {
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

const patternOf = (length: number, seed: number) =>
  Uint8Array.from({ length }, (_, index) => index * 7 + seed)
const shardOf = (bytes: Uint8Array): Shard => ({ hash: sha(bytes), bytes: bytes.length, samples: 1 })

function manifestOf(inputs: readonly Uint8Array[], labels: readonly Uint8Array[]): DataManifest {
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

const a = patternOf(2.5 * mebibyte, 1)
const b = patternOf(1000, 2)
const c = patternOf(mebibyte, 3)
const manifest = manifestOf([a, b], [c, b])

type Tamper = (message: WireMessage) => WireMessage | undefined

/** One peer that fetches from others that serve, over links that deliver in a later turn. */
function pool(sources: Readonly<Record<string, { holds: readonly Uint8Array[]; tamper?: Tamper }>>) {
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
    return [peer, serveShards({ store, links: { send } as Links }, { job, manifest })] as const
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
    shards: shardsNeeded(manifest, { inputs: true, labels: true }),
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
const spoil: Tamper = ({ header, tensors }) => ({
  header,
  tensors: tensors.map((tensor) => ({ ...tensor, data: Uint8Array.from(tensor.data).with(0, 255) })),
})

describe('the shards that a peer needs', () => {
  it('are the inputs for a root, the labels for a leaf, each once for both, and none between', () => {
    const needed = (inputs: boolean, labels: boolean) =>
      shardsNeeded(manifest, { inputs, labels }).map(({ hash }) => hash)
    expect(needed(true, false)).toEqual([sha(a), sha(b)])
    expect(needed(false, true)).toEqual([sha(c), sha(b)])
    expect(needed(true, true)).toEqual([sha(a), sha(b), sha(c)])
    expect(needed(false, false)).toEqual([])
  })
})

describe('a fetch', () => {
  it('brings every shard in pieces of a mebibyte from all sources in turn, and says how far it is', async () => {
    const { fetch, sealed, asked } = pool({ host: { holds: [a, b, c] }, friend: { holds: [a, b, c] } })
    const seen: number[] = []
    await fetch({ onProgress: ({ received, total }) => seen.push(received / total) }).done
    expect([...sealed.keys()].toSorted()).toEqual([sha(a), sha(b), sha(c)].toSorted())
    expect(asked.toSorted()).toEqual(
      [
        `host ${sha(a).slice(0, 4)} 0`,
        `host ${sha(a).slice(0, 4)} 1048576`,
        `host ${sha(a).slice(0, 4)} 2097152`,
        `friend ${sha(b).slice(0, 4)} 0`,
        `host ${sha(c).slice(0, 4)} 0`,
      ].toSorted(),
    )
    expect(seen.at(-1)).toBe(1)
  })

  it('goes on where an earlier one stopped, and asks for nothing that is here', async () => {
    const { fetch, asked, parts, sealed } = pool({ host: { holds: [a, b, c] } })
    parts.set(sha(a), a.slice(0, 2 * mebibyte))
    sealed.set(sha(b), b)
    await fetch().done
    expect(asked.toSorted()).toEqual(
      [`host ${sha(a).slice(0, 4)} 2097152`, `host ${sha(c).slice(0, 4)} 0`].toSorted(),
    )
  })

  it('turns to another source when one is silent past its deadline, gone, or does not have the shard', async () => {
    const { fetch, sealed, time } = pool({
      silent: { holds: [a, b, c], tamper: () => undefined },
      empty: { holds: [] },
      host: { holds: [a, b, c] },
    })
    const started = fetch({ sources: ['silent', 'empty', 'nowhere', 'host'] })
    await time.passUntil(started.done)
    expect(sealed.size).toBe(3)
  })

  it('asks another source at once when one is lost', async () => {
    const { fetch, sealed, time } = pool({
      silent: { holds: [a, b, c], tamper: () => undefined },
      host: { holds: [a, b, c] },
    })
    const started = fetch({ shards: [shardOf(b)] })
    await expect.poll(() => time.sleeping).toBe(1)
    started.lost('silent')
    await started.done
    expect(sealed.has(sha(b))).toBe(true)
  })

  it('fetches a corrupt shard once more from another source', async () => {
    const { fetch, sealed } = pool({ liar: { holds: [a, b, c], tamper: spoil }, host: { holds: [a, b, c] } })
    await fetch().done
    expect(sealed.size).toBe(3)
  })

  it('names the peer whose shard is corrupt when there is no other source', async () => {
    const { fetch, sealed } = pool({ liar: { holds: [a, b, c], tamper: spoil } })
    await expect(fetch().done).rejects.toMatchObject({
      code: 'corrupt-shard',
      message: expect.stringContaining('peer liar') as string,
    })
    expect(sealed.size).toBe(0)
  })

  it('tries its only source again when the corrupt bytes were left by an earlier run', async () => {
    const { fetch, sealed, parts } = pool({ host: { holds: [a, b, c] } })
    parts.set(sha(a), a.slice(0, mebibyte).with(9, 0))
    await fetch().done
    expect(sealed.size).toBe(3)
  })

  it('takes no more bytes than it asked for, and none from a peer that it did not ask', async () => {
    const long: Tamper = ({ header }) => ({
      header,
      tensors: [{ dtype: 'uint8', shape: [2000], data: new Uint8Array(2000) }],
    })
    const { fetch, time, parts } = pool({ liar: { holds: [b], tamper: long } })
    const started = fetch({ shards: [shardOf(b)] })
    const piece = { type: 'shard-piece' as const, job, plan: 4, id: 0, hash: sha(b), offset: 0, bytes: 1000 }
    const stranger = { peer: 'other', standing: 'member' as const }
    const message: WireMessage = { header: piece, tensors: [{ dtype: 'uint8', shape: [1000], data: b }] }
    expect(started.deliver(stranger, message)).toBe(false)
    await expect(time.passUntil(started.done)).rejects.toMatchObject({ code: 'bad-message' })
    expect(parts.size).toBe(0)
  })

  it('ends with the disk, and with its signal', async () => {
    const { fetch, store } = pool({ host: { holds: [a, b, c] } })
    const append = () => Promise.reject(new DiskFullError('full'))
    await expect(fetch({}, { ...store, append }).done).rejects.toMatchObject({ code: 'disk-full' })
    await expect(fetch({ signal: AbortSignal.abort() }).done).rejects.toMatchObject({ code: 'aborted' })
  })
})

describe('a peer that serves shards', () => {
  async function answerTo(
    standing: 'stranger' | 'member',
    wanted: Partial<{ hash: string; offset: number }>,
  ) {
    const secret = patternOf(10, 9)
    const { promise, resolve } = Promise.withResolvers<WireMessage>()
    const links = {
      send(_: string, message: WireMessage) {
        resolve(message)
        return Promise.resolve()
      },
    }
    const { store } = memoryStore([a, b, c, secret])
    const server = serveShards({ store, links: links as Partial<Links> as Links }, { job, manifest })
    const header = { type: 'shard-request' as const, job, plan: 7, id: 5, hash: sha(a), offset: 0, ...wanted }
    expect(server.deliver({ peer: 'asker', standing }, { header, tensors: [] })).toBe(true)
    return promise
  }

  it('answers with one bounded piece, under the plan of the request', async () => {
    const { header, tensors } = await answerTo('member', { offset: mebibyte })
    expect(header).toEqual({
      type: 'shard-piece',
      job,
      plan: 7,
      id: 5,
      hash: sha(a),
      offset: mebibyte,
      bytes: a.length,
    })
    expect(Buffer.from(tensors[0]!.data as Uint8Array).equals(a.subarray(mebibyte, 2 * mebibyte))).toBe(true)
  })

  it('gives nothing beyond its manifest, and nothing to strangers', async () => {
    const other = await answerTo('member', { hash: sha(patternOf(10, 9)) })
    expect(other.header).toMatchObject({ type: 'shard-refused', id: 5, refusal: 'unknown-shard' })
    const beyond = await answerTo('member', { offset: a.length })
    expect(beyond.header).toMatchObject({ refusal: 'unknown-shard' })
    const stranger = await answerTo('stranger', {})
    expect(stranger.header).toMatchObject({ refusal: 'not-a-member' })
  })

  it('leaves messages of other kinds and jobs to others', () => {
    const server = serveShards({ store: memoryStore().store, links: {} as Links }, { job, manifest })
    const from = { peer: 'asker', standing: 'member' as const }
    const other = {
      type: 'shard-request' as const,
      job: 'd'.repeat(64),
      plan: 0,
      id: 0,
      hash: sha(a),
      offset: 0,
    }
    expect(server.deliver(from, { header: other, tensors: [] })).toBe(false)
    expect(server.deliver(from, { header: { type: 'start', job, plan: 0 }, tensors: [] })).toBe(false)
  })
})
