/** What every implementation of `Links` must do; run on the fake and on libp2p. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Links, Sender } from '../../main/core/ports.ts'
import { AbortedError, PeerLostError } from '../../shared/errors.ts'
import type { WireMessage } from '../../shared/messages/wire.ts'
import { floatTensor } from '../../shared/tensor.ts'
import { mebibyte } from '../../shared/units.ts'

/** Members of one job who know each other's addresses. */
export interface LinksPool {
  readonly job: string
  readonly links: readonly Links[]
  /** End a participant without a word, as a crash does. */
  fail(index: number): Promise<void>
  stop(): Promise<void>
}

const floatsPerMebibyte = mebibyte / 4

/** Everything that one participant hears, and a promise for when it has heard enough. */
export function listen(links: Links) {
  const heard: { from: Sender; message: WireMessage }[] = []
  const lost: { peer: string; reason: string }[] = []
  let check = (): void => undefined
  links.onMessage((from, message) => {
    heard.push({ from, message })
    check()
  })
  links.onLost((peer, reason) => {
    lost.push({ peer, reason })
    check()
  })
  return {
    heard,
    lost,
    types: (): string[] => heard.map(({ message }) => message.header.type),
    until: (enough: () => boolean): Promise<void> =>
      new Promise((resolve) => {
        check = () => {
          if (enough()) resolve()
        }
        check()
      }),
  }
}

export function describeLinks(name: string, open: (participants: number) => Promise<LinksPool>): void {
  describe(`${name} as Links`, () => {
    let pool: LinksPool
    let anna: Links
    let ben: Links
    beforeEach(async () => {
      pool = await open(2)
      anna = pool.links[0]!
      ben = pool.links[1]!
    })
    afterEach(() => pool.stop())

    const start = (): WireMessage => ({ header: { type: 'start', job: pool.job, plan: 1 }, tensors: [] })
    const activation = (microBatch: number, mebibytes: number): WireMessage => ({
      header: { type: 'activation', job: pool.job, plan: 1, microBatch, purpose: 'train' },
      tensors: [floatTensor(new Float32Array(mebibytes * floatsPerMebibyte).fill(microBatch))],
    })
    const gradient = (microBatch: number): WireMessage => ({
      header: { type: 'gradient', job: pool.job, plan: 1, microBatch },
      tensors: [floatTensor(Float32Array.of(microBatch, 0.5))],
    })
    const microBatches = (messages: readonly { message: WireMessage }[]): number[] =>
      messages.flatMap(({ message: { header } }) => ('microBatch' in header ? [header.microBatch] : []))

    it('brings every message of a class in the order sent, without waiting for one before the next', async () => {
      const inbox = listen(ben)
      const order = Array.from({ length: 300 }, (_, at) => at)
      await Promise.all(order.map((at) => anna.send(ben.self, gradient(at))))
      await inbox.until(() => inbox.heard.length === order.length)
      expect(microBatches(inbox.heard)).toEqual(order)
    })

    it('brings tensors and headers as they were, from a member', async () => {
      const inbox = listen(ben)
      const sent: WireMessage = {
        header: {
          type: 'chunk',
          job: pool.job,
          plan: 2,
          ring: 1,
          round: 3,
          phase: 'reduce',
          step: 0,
          offset: 5,
          weight: 0.25,
        },
        tensors: [
          floatTensor(Float32Array.of(1.5, -0, Infinity, Number.MIN_VALUE), [2, 2]),
          { dtype: 'int32', shape: [3], data: Int32Array.of(-1, 0, 2_147_483_647) },
          { dtype: 'uint8', shape: [0], data: new Uint8Array(0) },
        ],
      }
      await anna.send(ben.self, sent)
      await inbox.until(() => inbox.heard.length === 1)
      expect(inbox.heard[0]!.message).toEqual(sent)
      expect(inbox.heard[0]!.from.peer).toBe(anna.self)
      expect(inbox.heard[0]!.from.standing).not.toBe('stranger')
    })

    it('lets control overtake 64 MiB of bulk', async () => {
      const inbox = listen(ben)
      const bulk = Array.from({ length: 16 }, (_, at) => anna.send(ben.self, activation(at, 4)))
      await anna.send(ben.self, start())
      await Promise.all(bulk)
      await inbox.until(() => inbox.heard.length === 17)
      expect(inbox.types().indexOf('start')).toBeLessThan(15)
      expect(microBatches(inbox.heard)).toEqual(Array.from({ length: 16 }, (_, at) => at))
    })

    it('takes bulk both ways at once and resolves each send', async () => {
      const [annas, bens] = [listen(anna), listen(ben)]
      const there = Promise.all([0, 1, 2, 3].map((at) => anna.send(ben.self, activation(at, 4))))
      const back = Promise.all([0, 1, 2, 3].map((at) => ben.send(anna.self, activation(at, 4))))
      await Promise.all([there, back])
      await Promise.all([
        annas.until(() => annas.heard.length === 4),
        bens.until(() => bens.heard.length === 4),
      ])
      const last = bens.heard[3]!.message.tensors[0]!.data
      expect([last[0], last[last.length - 1]]).toEqual([3, 3])
    })

    it('delivers to oneself, later and in order', async () => {
      const inbox = listen(anna)
      const sent = [gradient(1), gradient(2), gradient(3)].map((message) => anna.send(anna.self, message))
      expect(inbox.heard).toEqual([])
      await Promise.all(sent)
      await inbox.until(() => inbox.heard.length === 3)
      expect(microBatches(inbox.heard)).toEqual([1, 2, 3])
      expect(inbox.heard[0]!.from.peer).toBe(anna.self)
    })

    it('counts the bytes of tensors sent to others, by class, and nothing else', async () => {
      const inbox = listen(ben)
      await anna.send(anna.self, activation(0, 1))
      await anna.send(ben.self, start())
      await anna.send(ben.self, activation(0, 1))
      await anna.send(ben.self, gradient(0))
      await anna.send(ben.self, gradient(1))
      await anna.send(ben.self, {
        header: { type: 'parameters', job: pool.job, plan: 1, layers: [0, 1], offset: 0, total: 3 },
        tensors: [floatTensor(new Float32Array(3))],
      })
      await anna.send(ben.self, {
        header: {
          type: 'shard-piece',
          job: pool.job,
          plan: 1,
          id: 0,
          hash: 'f'.repeat(64),
          offset: 0,
          bytes: 5,
        },
        tensors: [{ dtype: 'uint8', shape: [5], data: new Uint8Array(5) }],
      })
      await inbox.until(() => inbox.heard.length === 6)
      expect(anna.sentBytes()).toEqual({
        control: 0,
        activations: mebibyte,
        gradients: 16,
        parameters: 12,
        data: 5,
      })
      expect(ben.sentBytes()).toEqual({ control: 0, activations: 0, gradients: 0, parameters: 0, data: 0 })
    })

    it('does not send what was aborted before its turn', async () => {
      const inbox = listen(ben)
      await expect(anna.send(ben.self, start(), AbortSignal.abort())).rejects.toBeInstanceOf(AbortedError)
      const stop = new AbortController()
      const bulk = Array.from({ length: 8 }, (_, at) => anna.send(ben.self, activation(at, 4)))
      const late = anna.send(ben.self, activation(8, 1), stop.signal)
      stop.abort()
      await expect(late).rejects.toBeInstanceOf(AbortedError)
      await Promise.all(bulk)
      await anna.send(ben.self, activation(9, 1))
      await inbox.until(() => microBatches(inbox.heard).includes(9))
      expect(microBatches(inbox.heard)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 9])
    })

    it('tells of a peer that crashed, once, and sends nothing to it', async () => {
      const inbox = listen(anna)
      await anna.send(ben.self, start())
      await ben.send(anna.self, start())
      await inbox.until(() => inbox.heard.length === 1)
      const { self } = ben
      await pool.fail(1)
      await inbox.until(() => inbox.lost.length > 0)
      expect(inbox.lost.map(({ peer }) => peer)).toEqual([self])
      expect(inbox.lost[0]!.reason).not.toBe('')
      await expect(anna.send(self, start())).rejects.toBeInstanceOf(PeerLostError)
      expect(inbox.lost).toHaveLength(1)
    })

    it('fails what waits for a peer that crashes', async () => {
      const bulk = Array.from({ length: 24 }, (_, at) => anna.send(ben.self, activation(at, 4)))
      const outcomes = Promise.allSettled(bulk)
      await pool.fail(1)
      const failed = (await outcomes).filter((outcome) => outcome.status === 'rejected')
      expect(failed.length).toBeGreaterThan(0)
      for (const { reason } of failed) expect(reason).toBeInstanceOf(PeerLostError)
    })

    it('stops telling a handler that was removed', async () => {
      const seen: string[] = []
      const remove = ben.onMessage(({ peer }) => seen.push(peer))
      const inbox = listen(ben)
      await anna.send(ben.self, start())
      await inbox.until(() => inbox.heard.length === 1)
      remove()
      await anna.send(ben.self, start())
      await inbox.until(() => inbox.heard.length === 2)
      expect(seen).toEqual([anna.self])
    })
  })
}
