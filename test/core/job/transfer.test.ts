import { describe, expect, it } from 'vitest'
import { StateReceiver, sendState } from '../../../main/core/job/transfer.ts'
import type { Links } from '../../../main/core/ports.ts'
import { BadMessageError } from '../../../shared/errors.ts'
import type { WireMessage } from '../../../shared/messages/wire.ts'

const target = { to: 'b', job: 'f'.repeat(64), plan: 3 }

/** Everything that would have gone to the other peer. */
async function sent(values: Float32Array): Promise<WireMessage<'parameters'>[]> {
  const messages: WireMessage<'parameters'>[] = []
  const links = {
    send: (_to: string, message: WireMessage) => Promise.resolve(messages.push(message as never)),
  }
  await sendState(links as unknown as Links, target, { layers: [2, 5], values })
  return messages
}

describe('parameters on their way', () => {
  it('arrive as they were, in pieces of at most 4 MiB', async () => {
    const values = Float32Array.from({ length: 2_500_000 }, (_, index) => index / 3)
    const messages = await sent(values)
    expect(messages.map(({ tensors }) => tensors[0]?.data.byteLength)).toEqual([4194304, 4194304, 1611392])
    const receiver = new StateReceiver([2, 5], values.length)
    for (const message of messages) receiver.accept(message)
    expect(receiver.complete).toBe(true)
    expect(Buffer.compare(Buffer.from(receiver.state.values.buffer), Buffer.from(values.buffer))).toBe(0)
  })

  it('are one empty piece for a stage without parameters', async () => {
    const messages = await sent(new Float32Array(0))
    expect(messages.length).toBe(1)
    expect(new StateReceiver([2, 5], 0).complete).toBe(true)
  })

  it('are refused out of order, for other layers, or with another length, and nothing changes', async () => {
    const [first, second] = await sent(Float32Array.from({ length: 1_500_000 }, () => 1))
    const receiver = new StateReceiver([2, 5], 1_500_000)
    expect(() => {
      receiver.accept(second!)
    }).toThrow(BadMessageError)
    expect(() => {
      new StateReceiver([2, 6], 1_500_000).accept(first!)
    }).toThrow(BadMessageError)
    expect(() => {
      new StateReceiver([2, 5], 1_499_999).accept(first!)
    }).toThrow(BadMessageError)
    expect(receiver.state.values.every((value) => value === 0)).toBe(true)
    receiver.accept(first!)
    expect(() => {
      receiver.accept(first!)
    }).toThrow(BadMessageError)
  })
})
