import { describe, expect, it } from 'vitest'
import { codec, dtypeOf, pack } from '../../../shared/codec/codec.ts'
import { BadMessageError } from '../../../shared/errors.ts'
import { type HostTensor, byteLengthOf, floatTensor } from '../../../shared/tensor.ts'
import { createPool, job } from './pool.ts'

const settings = { cuts: [[3, 5]], inFlight: 3, targetUpdates: 4, engineMs: () => 2, linkMs: 5 }

describe('a border between two stages', () => {
  it.each(codec.options)('carries training in %s, both ways, and evaluations as they are', async (name) => {
    const pool = await createPool({ ...settings, codec: name })
    await pool.train()
    await pool.clock.runUntil(pool.roots[0]!.stage.evaluate(10))
    const bulk = pool.seen.filter(({ message }) => message.tensors.length > 0)
    for (const { message } of bulk) {
      const judges = message.header.type === 'activation' && message.header.purpose === 'evaluate'
      expect(message.tensors[0]!.dtype).toBe(judges ? 'float32' : dtypeOf(name))
    }
    expect(new Set(bulk.map(({ message }) => message.header.type))).toEqual(new Set(['activation', 'gradient'])) // prettier-ignore
    const bytes = bulk.reduce((sum, { message: { tensors } }) => {
      const [{ dtype, shape } = floatTensor(new Float32Array(0))] = tensors
      return sum + byteLengthOf(dtype, shape.reduce((product, extent) => product * extent, 1)) // prettier-ignore
    }, 0)
    const sent = pool.members.map(({ peer }) => pool.network.linksOf(peer).sentBytes())
    expect(sent.reduce((sum, { activations, gradients }) => sum + activations + gradients, 0)).toBe(bytes)
    expect(pool.members.flatMap(({ refused }) => refused)).toEqual([])
  })

  it.each<[string, HostTensor]>([
    ['another codec', pack(floatTensor(new Float32Array(28), [4, 7]), 'fp16')],
    ['none', floatTensor(new Float32Array(28), [4, 7])],
    ['a byte too few', { dtype: 'int8-blocks', shape: [4, 7], data: new Uint8Array(31) }],
  ])('refuses a tensor with %s', async (_, tensor) => {
    const pool = await createPool({ ...settings, codec: 'int8' })
    const header = { type: 'activation', job, plan: 1, microBatch: 0, purpose: 'train' } as const
    const deliver = (given: HostTensor) => () => {
      pool.members[1]!.stage.deliver('c0s0', { header, tensors: [given] })
    }
    expect(deliver(tensor)).toThrow(BadMessageError)
    expect(deliver(pack(floatTensor(new Float32Array(28), [4, 7]), 'int8'))).not.toThrow()
  })
})
