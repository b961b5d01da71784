import { describe, expect, it } from 'vitest'
import type { WireMessage } from '../../../shared/messages/wire.ts'
import { BadMessageError } from '../../../shared/errors.ts'
import { type HostTensor, floatTensor } from '../../../shared/tensor.ts'
import { createPool, job, type Pool } from './pool.ts'

const envelope = { job, plan: 1 }
const [root, middle, leaf] = ['c0s0', 'c0s1', 'c0s2'] as const

/** Of 4 samples unless told: 7 wide into the middle stage, 6 wide out of it. */
const values = (width: number, samples = 4) =>
  floatTensor(new Float32Array(samples * width).fill(0.5), [samples, width])

const activation = (
  microBatch: number,
  tensor: HostTensor = values(7),
  purpose: 'train' | 'evaluate' = 'train',
) =>
  ({
    header: { type: 'activation', ...envelope, microBatch, purpose },
    tensors: [tensor],
  }) satisfies WireMessage
const gradient = (microBatch: number, tensor: HostTensor = values(6)) =>
  ({ header: { type: 'gradient', ...envelope, microBatch }, tensors: [tensor] }) satisfies WireMessage
const endOfStream = (microBatches: number) =>
  ({ header: { type: 'end-of-stream', ...envelope, microBatches }, tensors: [] }) satisfies WireMessage
const tally = { lossSum: 1, labels: 1, correct: 1, correctTop5: 1 }
const judged = (microBatch: number) =>
  ({ header: { type: 'judged', ...envelope, microBatch, tally }, tensors: [] }) satisfies WireMessage

/** A middle stage whose neighbours do not run: the test speaks for them. */
async function loneMiddle(): Promise<Pool> {
  const pool = await createPool({ cuts: [[3, 5]], inFlight: 3, accumulate: 100, engineMs: () => 1 })
  for (const index of [0, 2]) await pool.members[index]!.stage.stop('the test speaks for it')
  return pool
}

const stageOf = (pool: Pool) => pool.members[1]!.stage

/** What the middle stage did, in order. */
function deeds(pool: Pool): string[] {
  return pool.events.map(({ event }) =>
    event.type === 'update' ? 'update' : `${event.type} ${event.microBatch}`,
  )
}

describe('a stage with a choice', () => {
  it('runs the backward pass before the forward pass that came earlier', async () => {
    const pool = await loneMiddle()
    stageOf(pool).deliver(root, activation(0))
    await pool.clock.advance(10)
    stageOf(pool).deliver(root, activation(1)) // now it is busy with this one
    stageOf(pool).deliver(root, activation(2))
    stageOf(pool).deliver(leaf, gradient(0))
    await pool.clock.advance(10)
    expect(deeds(pool)).toEqual(['forward 0', 'forward 1', 'backward 0', 'forward 2'])
  })
})

const oversized = values(7, 5)
const wrongType: HostTensor = { dtype: 'int32', shape: [4, 7], data: new Int32Array(28) }
const short: HostTensor = { dtype: 'float32', shape: [4, 7], data: new Float32Array(3) }

/** Micro-batch 0 is out, micro-batch 1 has arrived and gone on; K is 3; ten validation samples; 37 for training. */
const refusals: readonly (readonly [what: string, from: string, message: WireMessage])[] = [
  ['an activation from the next stage', leaf, activation(2)],
  ['an activation from itself', middle, activation(2)],
  ['a gradient from the stage before', root, gradient(0)],
  ['end of stream from the next stage', leaf, endOfStream(5)],
  [
    'an activation for another plan',
    root,
    { ...activation(2), header: { ...activation(2).header, plan: 2 } },
  ],
  [
    'one for another job',
    root,
    { ...activation(2), header: { ...activation(2).header, job: '8'.repeat(64) } },
  ],
  ['an activation that came already', root, activation(1)],
  ['an activation too early', root, activation(3)],
  ['an activation without a tensor', root, { ...activation(2), tensors: [] }],
  ['an activation with two', root, { ...activation(2), tensors: [values(7), values(7)] }],
  ['an activation of another width', root, activation(2, values(6))],
  ['an activation of another rank', root, activation(2, floatTensor(new Float32Array(28), [4, 7, 1]))],
  ['an activation of more samples', root, activation(2, oversized)],
  ['an activation of fewer samples', root, activation(2, values(7, 3))],
  ['an activation of another type', root, activation(2, wrongType)],
  ['an activation shorter than it says', root, activation(2, short)],
  ['an activation of no samples', root, activation(2, values(7, 0))],
  ['a gradient out of order', leaf, gradient(1)],
  ['a gradient of what never went out', leaf, gradient(2)],
  ['a gradient of another width', leaf, gradient(0, values(7))],
  ['a gradient of fewer samples', leaf, gradient(0, values(6, 3))],
  ['a validation micro-batch out of order', root, activation(1, values(7), 'evaluate')],
  ['a validation micro-batch of more samples', root, activation(0, oversized, 'evaluate')],
  ['an end of stream before what came', root, endOfStream(1)],
  ['a judgement to a stage that is no root', leaf, judged(0)],
  ['a message of another room', root, { header: { type: 'hold', ...envelope }, tensors: [] }],
]

describe('a stage', () => {
  it.each(refusals)('refuses %s, and nothing changes', async (_what, from, message) => {
    const pool = await loneMiddle()
    for (const microBatch of [0, 1]) stageOf(pool).deliver(root, activation(microBatch))
    await pool.clock.advance(10)
    const before = stageOf(pool).stats()
    expect(() => {
      stageOf(pool).deliver(from, message)
    }).toThrow(BadMessageError)
    await pool.clock.advance(10)
    expect(stageOf(pool).stats()).toEqual(before)
    stageOf(pool).deliver(root, activation(2))
    stageOf(pool).deliver(leaf, gradient(0))
    await pool.clock.advance(10)
    expect(deeds(pool)).toEqual(['forward 0', 'forward 1', 'forward 2', 'backward 0'])
  })

  it('refuses more than the credits there are, and validation beyond the data', async () => {
    const pool = await loneMiddle()
    for (const microBatch of [0, 1, 2]) stageOf(pool).deliver(root, activation(microBatch))
    for (const message of [activation(3), activation(0, values(7), 'evaluate')])
      expect(() => {
        stageOf(pool).deliver(root, message)
      }).toThrow(/in flight/)
    await pool.clock.advance(10)
    stageOf(pool).deliver(leaf, gradient(0))
    await pool.clock.advance(10)
    stageOf(pool).deliver(root, activation(0, values(7), 'evaluate'))
    await pool.clock.advance(10)
    stageOf(pool).deliver(root, activation(1, values(7), 'evaluate'))
    await pool.clock.advance(10)
    expect(() => {
      stageOf(pool).deliver(root, activation(2, values(7), 'evaluate'))
    }).toThrow(/beyond the data/)
  })

  it('refuses what comes after the end of the stream, and a second end', async () => {
    const pool = await loneMiddle()
    stageOf(pool).deliver(root, activation(0))
    stageOf(pool).deliver(root, endOfStream(2))
    stageOf(pool).deliver(root, activation(1))
    for (const message of [activation(2), endOfStream(2)])
      expect(() => {
        stageOf(pool).deliver(root, message)
      }).toThrow(BadMessageError)
  })

  it('refuses judgements it did not ask for, at the root', async () => {
    const pool = await createPool({ cuts: [[3, 5]] })
    for (const from of [leaf, middle])
      expect(() => {
        pool.roots[0]!.stage.deliver(from, judged(0))
      }).toThrow(BadMessageError)
  })
})
