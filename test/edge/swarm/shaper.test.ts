/** Caps of the line: exact on a clock that stands still, and an upper bound over real sockets. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesOnLine, createShaper, type Shaper } from '../../../main/edge/swarm/links/shaper.ts'
import type { Rank } from '../../../main/edge/swarm/links/hello.ts'
import { floatTensor } from '../../../shared/tensor.ts'
import { listen } from '../../contracts/links.ts'
import { createVirtualClock, type VirtualClock } from '../../fakes/clock.ts'
import { openPool } from './pool.ts'
import { layCable } from './proxy.ts'

const mostAtOnce = 256 * 1024

interface Departure {
  readonly atMs: number
  readonly bytes: number
}

/** A lane that sends messages of these sizes, one after the other, as the swarm does. */
async function sendAll(shaper: Shaper, clock: VirtualClock, sizes: readonly number[], rank: Rank = 2) {
  const departures: Departure[] = []
  for (const size of sizes)
    for (let sent = 0; sent < size;) {
      const bytes = Math.min(size - sent, shaper.pieceBytes(mostAtOnce))
      await shaper.leave(bytes, rank, 'beyond')
      departures.push({ atMs: clock.now(), bytes: bytesOnLine(bytes) })
      sent += bytes
    }
  return departures
}

/** The most bytes in any window of a second. */
function mostInOneSecond(departures: readonly Departure[]): number {
  const sorted = departures.toSorted((a, b) => a.atMs - b.atMs)
  return sorted.reduce((most, { atMs }, first) => {
    const within = sorted.slice(first).filter((one) => one.atMs < atMs + 1000)
    return Math.max(
      most,
      within.reduce((sum, { bytes }) => sum + bytes, 0),
    )
  }, 0)
}

describe('an upload cap', () => {
  it('is never exceeded by a tenth in any second, headers and all, whatever lanes send', async () => {
    const lanes = fc.array(fc.array(fc.integer({ min: 1, max: 200_000 }), { maxLength: 6 }), {
      minLength: 1,
      maxLength: 4,
    })
    await fc.assert(
      fc.asyncProperty(lanes, fc.integer({ min: 8192, max: 400_000 }), async (sizes, cap) => {
        const clock = createVirtualClock()
        const shaper = createShaper(clock)
        shaper.setCaps({ uploadBytesPerSecond: cap, downloadBytesPerSecond: 0 })
        const all = sizes.map((lane, index) => sendAll(shaper, clock, lane, index === 0 ? 0 : 2))
        const departures = (await clock.runUntil(Promise.all(all))).flat()
        expect(mostInOneSecond(departures)).toBeLessThanOrEqual(1.1 * cap)
        expect(shaper.traffic().sentBytes).toBe(sizes.flat().reduce((sum, size) => sum + size, 0))
      }),
      { numRuns: 25 },
    )
  })

  it('is used: what is sent takes no longer than its bytes at the cap', async () => {
    const clock = createVirtualClock()
    const shaper = createShaper(clock)
    shaper.setCaps({ uploadBytesPerSecond: 100_000, downloadBytesPerSecond: 0 })
    const departures = await clock.runUntil(sendAll(shaper, clock, [1_000_000]))
    const onLine = departures.reduce((sum, { bytes }) => sum + bytes, 0)
    expect(clock.now()).toBeLessThanOrEqual((onLine / 100_000) * 1000 + 1)
    expect(onLine).toBeLessThan(1_060_000)
  })

  it('lets control go first', async () => {
    const clock = createVirtualClock()
    const shaper = createShaper(clock)
    shaper.setCaps({ uploadBytesPerSecond: 10_000, downloadBytesPerSecond: 0 })
    const bulk = sendAll(shaper, clock, [20_000])
    await clock.advance(500)
    const control = await clock.runUntil(sendAll(shaper, clock, [300], 0))
    expect(clock.now() - 500).toBeLessThan(150)
    expect(control).toHaveLength(1)
    await clock.runUntil(bulk)
  })

  it('lets an activation go before what is left of a ring, and control before both', async () => {
    const clock = createVirtualClock()
    const shaper = createShaper(clock)
    shaper.setCaps({ uploadBytesPerSecond: 100_000, downloadBytesPerSecond: 0 })
    const order: string[] = []
    const send = async (what: string, bytes: number, rank: Rank) => {
      await shaper.leave(bytes, rank, 'beyond')
      order.push(what)
    }
    const chunks = [1, 2, 3].map((piece) => send(`chunk ${piece}`, 4_000, 2))
    const activation = send('activation', 3_000, 1)
    const control = send('control', 100, 0)
    await clock.runUntil(Promise.all([...chunks, activation, control]))
    expect(order).toEqual(['control', 'activation', 'chunk 1', 'chunk 2', 'chunk 3'])
  })

  it('holds within a second when it is set, changed and taken away', async () => {
    const clock = createVirtualClock()
    const shaper = createShaper(clock)
    expect(shaper.leave(1_000_000, 2, 'beyond')).toBeUndefined()
    shaper.setCaps({ uploadBytesPerSecond: 10_000, downloadBytesPerSecond: 0 })
    const sending = sendAll(shaper, clock, [100_000])
    await clock.advance(1_000)
    shaper.setCaps({ uploadBytesPerSecond: 0, downloadBytesPerSecond: 0 })
    await clock.runUntil(sending)
    expect(clock.now()).toBeLessThan(1_300)
    expect(shaper.leave(1_000_000, 2, 'beyond')).toBeUndefined()
  })

  it('too low for any job counts as the least that keeps one alive', async () => {
    const clock = createVirtualClock()
    const shaper = createShaper(clock)
    shaper.setCaps({ uploadBytesPerSecond: 1, downloadBytesPerSecond: 0 })
    await clock.runUntil(sendAll(shaper, clock, [8_000]))
    expect(clock.now()).toBeLessThan(1_600)
  })
})

describe('a download cap', () => {
  it('stops the reading for as long as the bytes take at the cap, but never of control', async () => {
    const clock = createVirtualClock()
    const shaper = createShaper(clock)
    shaper.setCaps({ uploadBytesPerSecond: 0, downloadBytesPerSecond: 10_000 })
    expect(shaper.arrive(5_000, true)).toBeUndefined()
    const turn = shaper.arrive(15_000, false)
    expect(turn).toBeDefined()
    await clock.runUntil(turn!)
    expect(clock.now()).toBe(2_000)
    expect(shaper.traffic().receivedBytes).toBe(20_000)
  })
})

describe('caps over real sockets', () => {
  async function transfer(caps: { up: number; down: number }, floats: number) {
    const pool = await openPool(2)
    const cable = await layCable(pool.agents[1]!.swarm.addresses()[0]!)
    try {
      const [from, to] = pool.links
      const [sender, receiver] = pool.agents
      const inbox = listen(to!)
      await from!.learnAddresses(to!.self, [cable.address])
      sender!.swarm.setCaps({ uploadBytesPerSecond: caps.up, downloadBytesPerSecond: 0 })
      receiver!.swarm.setCaps({ uploadBytesPerSecond: 0, downloadBytesPerSecond: caps.down })
      const startedMs = performance.now()
      for (let microBatch = 0; microBatch < 4; microBatch++)
        await from!.send(to!.self, {
          header: { type: 'gradient', job: pool.job, plan: 0, microBatch },
          tensors: [floatTensor(new Float32Array(floats).fill(microBatch))],
        })
      await inbox.until(() => inbox.heard.length === 4)
      const seconds = (performance.now() - startedMs) / 1000
      const whole = inbox.heard.every(({ message }) => message.tensors[0]?.data.length === floats)
      return { seconds, whole, received: receiver!.swarm.traffic().receivedBytes }
    } finally {
      await pool.stop()
      await cable.stop()
    }
  }

  it('hold for what one PC sends, and nothing is lost', async () => {
    const cap = 200_000
    const { seconds, whole, received } = await transfer({ up: cap, down: 0 }, 75_000)
    expect(whole).toBe(true)
    expect(received).toBeGreaterThan(1_200_000)
    expect(received).toBeLessThanOrEqual(1.1 * cap * seconds)
  })

  it('hold for what one PC takes in, beyond what was under way, and nothing is lost', async () => {
    const cap = 2_000_000
    const { seconds, whole, received } = await transfer({ up: 0, down: cap }, 500_000)
    expect(whole).toBe(true)
    // What is handed over last is not paid for yet: two windows at most.
    expect(received).toBeGreaterThan(8_000_000)
    expect(received - 4 * 1024 * 1024).toBeLessThanOrEqual(1.1 * cap * seconds)
  })

  it('knows for each line whether micro-batches use it these days', async () => {
    const clock = createVirtualClock()
    const shaper = createShaper(clock)
    const busy = () => [shaper.isPipelineBusy('local'), shaper.isPipelineBusy('beyond')]
    expect(busy()).toEqual([false, false])
    void shaper.leave(1000, 1, 'local')
    void shaper.leave(1000, 2, 'beyond')
    expect(busy()).toEqual([true, false])
    void shaper.leave(1000, 1, 'beyond')
    expect(busy()).toEqual([true, true])
    await clock.advance(600)
    expect(busy()).toEqual([false, false])
  })
})
