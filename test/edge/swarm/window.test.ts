/** Bulk under way on a line of known speed, in virtual time. */
import { describe, expect, it } from 'vitest'
import { acknowledgedBytes, createWindow } from '../../../main/edge/swarm/links/window.ts'
import { createVirtualClock } from '../../fakes/clock.ts'

/** Send for so long over a line of one queue: the largest wait in it after a second, and the bytes that came. */
async function sendOver(line: { bytesPerMs: number; latencyMs: number }, durationMs: number) {
  const clock = createVirtualClock()
  const window = createWindow(() => clock.now())
  let freeAtMs = 0
  let came = 0
  let longestQueueMs = 0
  const send = async () => {
    while (clock.now() < durationMs) {
      const room = window.leave(acknowledgedBytes)
      freeAtMs = Math.max(freeAtMs, clock.now()) + acknowledgedBytes / line.bytesPerMs
      if (clock.now() > 1000) longestQueueMs = Math.max(longestQueueMs, freeAtMs - clock.now())
      void clock.sleep(freeAtMs - clock.now() + 2 * line.latencyMs).then(() => {
        came += acknowledgedBytes
        window.acknowledge(acknowledgedBytes)
      })
      await room
    }
  }
  await clock.runUntil(send())
  return { longestQueueMs, share: came / (line.bytesPerMs * durationMs) }
}

describe('the window of bulk', () => {
  it.each([
    { bytesPerMs: 2500, latencyMs: 5 },
    { bytesPerMs: 12_500, latencyMs: 20 },
    { bytesPerMs: 125_000, latencyMs: 0.2 },
  ])('keeps a line of $bytesPerMs bytes/ms and $latencyMs ms busy, and its queue short', async (line) => {
    const { longestQueueMs, share } = await sendOver(line, 5000)
    expect(share).toBeGreaterThan(0.9)
    expect(longestQueueMs).toBeLessThan(40)
  })

  it('lets nobody wait once its stream is over', async () => {
    const window = createWindow(() => 0)
    const room = window.leave(10_000_000)
    window.close()
    await expect(room).resolves.toBeUndefined()
    expect(window.leave(10_000_000)).toBeUndefined()
  })
})
