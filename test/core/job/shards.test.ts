import { describe, expect, it } from 'vitest'
import { serveShards, shardsNeeded } from '../../../main/core/job/shards.ts'
import type { Links } from '../../../main/core/ports.ts'
import { DiskFullError } from '../../../shared/errors.ts'
import type { WireMessage } from '../../../shared/messages/wire.ts'
import {
  type Tamper,
  a,
  b,
  c,
  job,
  manifest,
  manifestOf,
  mebibyte,
  memoryStore,
  patternOf,
  pool,
  sha,
  shardOf,
  spoil,
} from './shards-pool.ts'

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

  it('asks a source that was silent once no more while another answers', async () => {
    const shards = Array.from({ length: 12 }, (_, index) => patternOf(100, 50 + index))
    const sources = { silent: { holds: shards, tamper: () => undefined }, host: { holds: shards } }
    const { fetch, asked, time, sealed } = pool(sources, manifestOf(shards, shards))
    await time.passUntil(fetch().done)
    expect(sealed.size).toBe(12)
    // Once by each of the four fetches side by side; the other shards whose turn it was go to the host.
    expect(asked.filter((line) => line.startsWith('silent'))).toHaveLength(4)
  })

  it.each<[string, Tamper]>([
    [
      'is longer than the shard',
      ({ header }) => ({ header, tensors: [{ dtype: 'uint8', shape: [2000], data: new Uint8Array(2000) }] }),
    ],
    [
      'is empty',
      ({ header }) => ({ header, tensors: [{ dtype: 'uint8', shape: [0], data: new Uint8Array(0) }] }),
    ],
    [
      'begins elsewhere',
      ({ header, tensors }) => ({ header: { ...header, offset: 5 } as typeof header, tensors }),
    ],
    [
      'is of another shard',
      ({ header, tensors }) => ({ header: { ...header, hash: sha(a) } as typeof header, tensors }),
    ],
  ])('keeps nothing of a piece that %s', async (_, tamper) => {
    const { fetch, time, parts } = pool({ liar: { holds: [b], tamper } })
    await expect(time.passUntil(fetch({ shards: [shardOf(b)] }).done)).rejects.toMatchObject({
      code: 'bad-message',
    })
    expect(parts.size).toBe(0)
  })

  it('takes a piece only from the peer that it asked', async () => {
    const { fetch, time, asked } = pool({ silent: { holds: [b], tamper: () => undefined } })
    const stop = new AbortController()
    const started = fetch({ shards: [shardOf(b)], signal: stop.signal })
    await expect.poll(() => asked.length).toBe(1)
    const header = { type: 'shard-piece' as const, job, plan: 4, id: 0, hash: sha(b), offset: 0, bytes: 1000 }
    const message: WireMessage = { header, tensors: [{ dtype: 'uint8', shape: [1000], data: b }] }
    expect(started.deliver({ peer: 'other', standing: 'member' }, message)).toBe(false)
    expect(started.deliver({ peer: 'silent', standing: 'member' }, message)).toBe(true)
    await started.done
    expect(time.sleeping).toBe(0)
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
