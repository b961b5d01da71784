import { describe, expect, it } from 'vitest'
import { createSimulationClock } from '../../main/simulation/clock.ts'
import { SimulatedNetwork } from '../../main/simulation/network.ts'
import type { WireMessage } from '../../shared/messages/wire.ts'
import { createRng } from '../../shared/random.ts'
import { poolOf } from './small.ts'

const bytes = 1_000_000
const message = (microBatch: number): WireMessage => ({
  header: { type: 'gradient', job: '0'.repeat(64), plan: 1, microBatch },
  tensors: [],
})

function start(pool = poolOf([{}, {}, {}]), loss = 0) {
  const clock = createSimulationClock()
  const arrivals: [from: string, to: string, microBatch: number, seconds: number][] = []
  const network = new SimulatedNetwork({
    ...{ clock, pool, loss, rng: createRng(1), bodyBytes: () => bytes },
    onTransfer: ({ from, to, message: { header }, arrivedMs }) =>
      arrivals.push([from, to, header.type === 'gradient' ? header.microBatch : -1, arrivedMs / 1000]),
  })
  const send = (from: number, to: number, microBatch = 0) =>
    network.send(`pc-${from}`, `pc-${to}`, message(microBatch))
  return { clock, network, arrivals, send }
}

const wide = 1e15

describe('a message', () => {
  it('takes its bytes over the narrowest of upload, way and download, and the latency', async () => {
    for (const [upload, way, download] of [
      [1e5, 4e5, 2e5],
      [4e5, 1e5, 2e5],
      [4e5, 2e5, 1e5],
    ] as const) {
      const links = [
        { between: ['pc-0', 'pc-1'] as [string, string], bytesPerSecond: way, latencySeconds: 0.5 },
      ]
      const peers = [{ uploadBytesPerSecond: upload }, { downloadBytesPerSecond: download }]
      const { clock, arrivals, send } = start(poolOf(peers, { links }))
      void send(0, 1)
      await clock.runTo(60_000)
      expect(arrivals).toEqual([['pc-0', 'pc-1', 0, expect.closeTo(10.5, 6) as number]])
    }
  })

  it('comes after those before it of its class', async () => {
    const { clock, arrivals, send } = start(poolOf([{ uploadBytesPerSecond: 1e6 }, {}]))
    for (const number of [0, 1, 2]) void send(0, 1, number)
    await clock.runTo(60_000)
    expect(arrivals.map(([, , number, at]) => [number, Number(at.toFixed(6))])).toEqual([
      [0, 1],
      [1, 2],
      [2, 3],
    ])
  })

  it('shares an upload with one to another peer, piece by piece', async () => {
    const { clock, arrivals, send } = start(poolOf([{ uploadBytesPerSecond: 1e6 }, {}, {}]))
    void send(0, 1)
    void send(0, 2)
    await clock.runTo(60_000)
    const seconds = arrivals.map(([, , , at]) => at)
    // Each alone would take a second; both are there after two, and the first not before 1.7.
    expect(Math.max(...seconds)).toBeCloseTo(2, 6)
    expect(Math.min(...seconds)).toBeGreaterThan(1.7)
  })

  it('shares a download with one from another peer', async () => {
    const { clock, arrivals, send } = start(poolOf([{}, {}, { downloadBytesPerSecond: 1e6 }]))
    void send(0, 2)
    void send(1, 2)
    await clock.runTo(60_000)
    expect(Math.max(...arrivals.map(([, , , at]) => at))).toBeCloseTo(2, 6)
  })

  it('does not wait behind one to a peer that is slow to take it', async () => {
    const peers = [
      { uploadBytesPerSecond: 1e7 },
      { downloadBytesPerSecond: 1e5 },
      { downloadBytesPerSecond: wide },
    ]
    const { clock, arrivals, send } = start(poolOf(peers))
    void send(0, 1)
    void send(0, 2)
    await clock.runTo(60_000)
    expect(arrivals.find(([, to]) => to === 'pc-2')?.[3]).toBeLessThan(0.2)
    expect(arrivals.find(([, to]) => to === 'pc-1')?.[3]).toBeCloseTo(10, 6)
  })

  it('is sent again in part where pieces get lost, and arrives once', async () => {
    const { clock, network, arrivals, send } = start(poolOf([{ uploadBytesPerSecond: 1e6 }, {}]), 0.3)
    for (let number = 0; number < 50; number++) void send(0, 1, number)
    await clock.runTo(1_000_000)
    expect(arrivals.map(([, , number]) => number)).toEqual(Array.from({ length: 50 }, (_, number) => number))
    // 1 / 0.7 of the bytes went over the line.
    expect(network.use('pc-0').uploadMs / 50_000).toBeGreaterThan(1.25)
    expect(network.use('pc-0').uploadMs / 50_000).toBeLessThan(1.65)
    expect(network.sentBytes().gradients).toBe(50 * bytes)
  })
})

describe('a peer that is gone', () => {
  it('gets nothing that is under way, and what waits for it is refused', async () => {
    const { clock, network, arrivals, send } = start(poolOf([{ uploadBytesPerSecond: 1e6 }, {}]))
    void send(0, 1)
    const second = send(0, 1)
    const refused = expect(second).rejects.toThrow('pc-1 is gone')
    await clock.runTo(900)
    network.sever('pc-1')
    await refused
    await expect(send(0, 1)).rejects.toThrow('cannot be reached')
    network.restore('pc-1')
    void send(0, 1, 7)
    await clock.runTo(60_000)
    expect(arrivals.map(([, , number]) => number)).toEqual([7])
  })
})
