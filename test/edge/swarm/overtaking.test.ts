/** Over real encrypted connections, what is small and urgent passes what is large, in the order of events. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Links } from '../../../main/core/ports.ts'
import type { WireMessage } from '../../../shared/messages/wire.ts'
import { floatTensor } from '../../../shared/tensor.ts'
import { mebibyte } from '../../../shared/units.ts'
import { listen } from '../../contracts/links.ts'
import { openPool } from './pool.ts'

describe('control on a link that is full of bulk', () => {
  let pool: Awaited<ReturnType<typeof openPool>>
  let anna: Links
  let ben: Links
  beforeEach(async () => {
    pool = await openPool(2)
    anna = pool.links[0]!
    ben = pool.links[1]!
  })
  afterEach(() => pool.stop())

  const start = (): WireMessage => ({ header: { type: 'start', job: pool.job, plan: 1 }, tensors: [] })
  const bulk = (type: 'activation' | 'chunk', mebibytes: number, at: number): WireMessage => {
    const envelope = { job: pool.job, plan: 1 }
    const tensors = [floatTensor(new Float32Array((mebibytes * mebibyte) / 4))]
    return type === 'activation'
      ? { header: { type, ...envelope, microBatch: at, purpose: 'train' }, tensors }
      : {
          header: { type, ...envelope, ring: 0, round: at, phase: 'reduce', step: 0, offset: 0, weight: 1 },
          tensors,
        }
  }

  it.each(['activation', 'chunk'] as const)(
    'arrives before the %s of 16 MiB that is under way',
    async (type) => {
      const inbox = listen(ben)
      const [first, second] = [anna.send(ben.self, bulk(type, 1, 0)), anna.send(ben.self, bulk(type, 16, 1))]
      // The first is there, so the second is on the wire.
      await inbox.until(() => inbox.heard.length === 1)
      await anna.send(ben.self, start())
      await Promise.all([first, second])
      await inbox.until(() => inbox.heard.length === 3)
      expect(inbox.types()).toEqual([type, 'start', type])
    },
  )
})
