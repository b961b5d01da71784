/** Participants of one machine in the simulator: what all of them need, its processors do. */
import { describe, expect, it } from 'vitest'
import { planRates } from '../../main/core/planner/plan-rate.ts'
import { scheduleOfProfile } from '../../main/simulation/schedules.ts'
import { poolOf, profileOf, rows, run } from './small.ts'

const nearly = (rate: number, expected: number) => {
  expect(Math.abs(rate / expected - 1)).toBeLessThan(0.02)
}

/** b·f·(1+β)/F: 1, 0.5 and 0.25 s a micro-batch. */
const peers = [{ flopsPerSecond: 400 }, { flopsPerSecond: 800 }, { flopsPerSecond: 1600 }]
const profile = profileOf(3)
const all = new Set(['pc-0', 'pc-1', 'pc-2'])

async function bothRates(pool: ReturnType<typeof poolOf>, shared: Parameters<typeof planRates>[3]) {
  const layout = rows(pool, profile)
  const { samplesPerSecond } = await run({ pool, profile, layout, ...(shared && { shared }) })
  const [forecast = 0] = planRates(pool, profile, scheduleOfProfile(layout, profile), shared)
  nearly(samplesPerSecond, forecast)
  return samplesPerSecond
}

describe('participants on one machine', () => {
  it('are as fast as its processors do the work of all: b / (1 + 0.5 + 0.25) on one of them', async () => {
    nearly(await bothRates(poolOf(peers), { peers: all, processors: 1 }), 10 / 1.75)
  })

  it('are as fast as the slowest stage where processors are many', async () => {
    nearly(await bothRates(poolOf(peers), { peers: all, processors: 3 }), 10)
  })

  it('share a processor and a half: half of one for each of three', async () => {
    const alike = poolOf(peers.map(() => ({ flopsPerSecond: 800 })))
    nearly(await bothRates(alike, { peers: all, processors: 1.5 }), 10)
  })

  it('pay for work, calls and messages as their rehearsal told', async () => {
    // Work takes twice as long. Two calls a micro-batch, one at the leaf, and half of an update's each: 6.5 of 0.2 s. Two borders, 0.3 s each.
    const crowd = { slower: 2, callSeconds: 0.2, exchangeSeconds: 0.3 }
    nearly(
      await bothRates(poolOf(peers), { peers: all, processors: 1, crowd }),
      10 / (2 * 1.75 + 6.5 * 0.2 + 2 * 0.3),
    )
  })

  it('pay for what passes between two of them as the way has it', async () => {
    // 1000 bytes forth and back between the first two, at 4000 bytes a second.
    const links = [{ between: ['pc-0', 'pc-1'] as [string, string], bytesPerSecond: 4000 }]
    nearly(await bothRates(poolOf(peers, { links }), { peers: all, processors: 1 }), 10 / (1.75 + 2 * 0.25))
  })

  it('pay for the messages of their averages', async () => {
    // Two clusters of two: 1 s a micro-batch each; every two of each a round of two rings, 2·4 messages of 0.1 s.
    const depth = profileOf(2, { averageEveryUpdates: 1, accumulate: 2 })
    const pool = poolOf(['a', 'b', 'c', 'd'].map((id) => ({ id, flopsPerSecond: 800 })))
    const shared = {
      ...{ peers: new Set(['a', 'b', 'c', 'd']), processors: 1 },
      crowd: { slower: 1, callSeconds: 0, exchangeSeconds: 0.2 },
    }
    const layout = rows(pool, depth, 2)
    const rates = planRates(pool, depth, scheduleOfProfile(layout, depth), shared)
    const expected = (2 * 2 * 10) / (4 * (1 + 0.2) + 16 * 0.1)
    nearly(rates[0]! + rates[1]!, expected)
    nearly((await run({ pool, profile: depth, layout, shared })).samplesPerSecond, expected)
  })

  it('leave those on other machines alone', async () => {
    nearly(await bothRates(poolOf(peers), { peers: new Set(['pc-1', 'pc-2']), processors: 1 }), 10)
  })
})
