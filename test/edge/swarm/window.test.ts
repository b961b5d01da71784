/** Bulk under way on a line of known speed, in virtual time. */
import { describe, expect, it } from 'vitest'
import {
  acknowledgedBytes,
  createAcknowledgementReader,
  createAcknowledger,
  encodeAcknowledgement,
  tenthsOf,
  type Acknowledgement,
} from '../../../main/edge/swarm/links/acknowledgement.ts'
import { createWindow } from '../../../main/edge/swarm/links/window.ts'
import { createVirtualClock } from '../../fakes/clock.ts'

interface Line {
  readonly bytesPerMs: number
  readonly latencyMs: number
  /** What an acknowledgement waits for on its way back. */
  readonly backMs?: (nowMs: number) => number
  /** Something more urgent uses the line. */
  readonly yields?: boolean
}

/** The receiver's clock began at another time, and wraps around soon. */
const otherClockMs = 2 ** 32 / 10 - 2000

/** Send for so long over a line of one queue: the largest wait in it after a second, and the bytes that came. */
async function sendOver(line: Line, durationMs: number) {
  const clock = createVirtualClock()
  const window = createWindow(
    () => clock.now(),
    () => line.yields === true,
  )
  let freeAtMs = 0
  let came = 0
  let backAtMs = 0
  let longestQueueMs = 0
  const send = async () => {
    while (clock.now() < durationMs) {
      const room = window.leave(acknowledgedBytes)
      freeAtMs = Math.max(freeAtMs, clock.now()) + acknowledgedBytes / line.bytesPerMs
      if (clock.now() > 1000) longestQueueMs = Math.max(longestQueueMs, freeAtMs - clock.now())
      void clock.sleep(freeAtMs - clock.now() + line.latencyMs).then(async () => {
        came += acknowledgedBytes
        const said = { bytes: came, atTenths: tenthsOf(clock.now() + otherClockMs) }
        // None overtakes another.
        backAtMs = Math.max(backAtMs, clock.now() + line.latencyMs + (line.backMs?.(clock.now()) ?? 0))
        await clock.sleep(backAtMs - clock.now())
        window.acknowledge(said)
      })
      await room
    }
  }
  await clock.runUntil(send())
  return { longestQueueMs, share: came / (line.bytesPerMs * durationMs) }
}

/** Two send to each other over lines of this speed; what one acknowledges waits behind the bulk that it sends. */
async function bothWays({ bytesPerMs, latencyMs }: Line, durationMs: number): Promise<number[]> {
  const clock = createVirtualClock()
  const windows = [0, 1].map(() => createWindow(() => clock.now(), () => false)) // prettier-ignore
  const freeAtMs = [0, 0]
  const came = [0, 0]
  const cross = (side: number, bytes: number) => {
    freeAtMs[side] = Math.max(freeAtMs[side]!, clock.now()) + bytes / bytesPerMs
    return clock.sleep(freeAtMs[side] - clock.now() + latencyMs)
  }
  const send = async (side: number) => {
    while (clock.now() < durationMs) {
      const room = windows[side]!.leave(2 * acknowledgedBytes)
      void cross(side, 2 * acknowledgedBytes).then(async () => {
        came[side]! += 2 * acknowledgedBytes
        const said = { bytes: came[side]!, atTenths: tenthsOf(clock.now()) }
        await cross(1 - side, 100)
        windows[side]!.acknowledge(said)
      })
      await room
    }
  }
  await clock.runUntil(Promise.all([send(0), send(1)]))
  return came.map((bytes) => bytes / (bytesPerMs * durationMs))
}

describe('the window of bulk', () => {
  it('keeps both lines busy where two send to each other', async () => {
    const shares = await bothWays({ bytesPerMs: 2500, latencyMs: 5 }, 10_000)
    for (const share of shares) expect(share).toBeGreaterThan(0.96)
  })

  it('keeps a line busy where the way back is full at times', async () => {
    const backMs = (now: number) => (now % 600 < 300 ? 0 : 50)
    const { longestQueueMs, share } = await sendOver({ bytesPerMs: 2500, latencyMs: 5, backMs }, 10_000)
    expect(share).toBeGreaterThan(0.95)
    expect(longestQueueMs).toBeLessThan(60)
  })

  it.each([
    { bytesPerMs: 2500, latencyMs: 5 },
    { bytesPerMs: 2500, latencyMs: 5, backMs: () => 60 },
    { bytesPerMs: 12_500, latencyMs: 20 },
    { bytesPerMs: 125_000, latencyMs: 0.2 },
  ])('keeps a line busy, and its queue short: %o', async (line) => {
    const { longestQueueMs, share } = await sendOver(line, 5000)
    expect(share).toBeGreaterThan(0.9)
    expect(longestQueueMs).toBeLessThan(60)
  })

  it('hardly queues where micro-batches use the line', async () => {
    const { longestQueueMs, share } = await sendOver({ bytesPerMs: 2500, latencyMs: 5, yields: true }, 5000)
    expect(share).toBeGreaterThan(0.8)
    expect(longestQueueMs).toBeLessThan(15)
  })

  it('knows an empty queue also after minutes of bulk without a pause', async () => {
    const { longestQueueMs, share } = await sendOver({ bytesPerMs: 2500, latencyMs: 5 }, 240_000)
    expect(share).toBeGreaterThan(0.9)
    expect(longestQueueMs).toBeLessThan(60)
  })

  it('counts only what was sent, whatever is said to have come', () => {
    const window = createWindow(
      () => 0,
      () => false,
    )
    expect(window.leave(100)).toBeUndefined()
    const before = window.bytes
    window.acknowledge({ bytes: 4_000_000_000, atTenths: 1 })
    expect(window.bytes).toBeLessThanOrEqual(2 * before)
    window.acknowledge({ bytes: 7, atTenths: 1 })
    expect(window.leave(10)).toBeUndefined()
  })

  it('lets nobody wait once its stream is over', async () => {
    const window = createWindow(
      () => 0,
      () => false,
    )
    const room = window.leave(10_000_000)
    window.close()
    await expect(room).resolves.toBeUndefined()
    expect(window.leave(10_000_000)).toBeUndefined()
  })
})

describe('acknowledgements', () => {
  it('are read from whatever pieces they come in, the newest of several', () => {
    const heard: Acknowledgement[] = []
    const read = createAcknowledgementReader((said) => heard.push(said))
    const first = encodeAcknowledgement({ bytes: 8192, atTenths: 4_294_967_295 })
    const second = encodeAcknowledgement({ bytes: 2 ** 32 + 5, atTenths: 17 })
    read(first.subarray(0, 3))
    expect(heard).toEqual([])
    read(first.subarray(3))
    expect(heard).toEqual([{ bytes: 8192, atTenths: 4_294_967_295 }])
    read(Uint8Array.of(...first, ...second, ...first.subarray(0, 5)))
    read(first.subarray(5))
    expect(heard.slice(1)).toEqual([
      { bytes: 5, atTenths: 17 },
      { bytes: 8192, atTenths: 4_294_967_295 },
    ])
  })

  it('say once for some milliseconds how much came in all, and when the newest of it did', async () => {
    const clock = createVirtualClock()
    const said: Uint8Array[] = []
    const later = (deed: () => void, ms: number) => {
      void clock.sleep(ms).then(deed)
    }
    const came = createAcknowledger({ now: () => clock.now(), later }, (record) => said.push(record))
    came(acknowledgedBytes - 1)
    await Promise.resolve()
    expect(said).toEqual([])
    came(1)
    came(acknowledgedBytes)
    await Promise.resolve()
    const begun = clock.now()
    expect(said).toEqual([encodeAcknowledgement({ bytes: 2 * acknowledgedBytes, atTenths: tenthsOf(begun) })])
    await clock.runUntil(clock.sleep(1))
    came(acknowledgedBytes)
    await clock.runUntil(clock.sleep(1))
    came(acknowledgedBytes)
    expect(said).toHaveLength(1)
    await clock.runUntil(clock.sleep(2))
    expect(said.slice(1)).toEqual([
      encodeAcknowledgement({ bytes: 4 * acknowledgedBytes, atTenths: tenthsOf(begun + 2) }),
    ])
  })
})
