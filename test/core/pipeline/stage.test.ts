import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { StageEvent } from '../../../main/core/pipeline/assignment.ts'
import { type Pool, adam, createPool, momentum, normGraph, peerName } from './pool.ts'
import { replay } from './replay.ts'

/** Where to cut seven layers into 1..4 stages. */
const cutsInto: Readonly<Record<number, readonly number[]>> = { 1: [], 2: [3], 3: [2, 5], 4: [1, 3, 6] }

const runs = fc.record({
  seed: fc.nat({ max: 1_000_000 }),
  stages: fc.integer({ min: 1, max: 4 }),
  inFlight: fc.integer({ min: 1, max: 6 }),
  accumulate: fc.integer({ min: 1, max: 6 }),
  staleness: fc.constantFrom('none' as const, 'predict' as const),
  optimizer: fc.constantFrom(adam, momentum),
  window: fc.constantFrom(1, 2, 50),
})

async function trained(settings: Omit<Parameters<typeof createPool>[0], 'cuts'> & { stages: number }) {
  const { stages, ...rest } = settings
  const pool = await createPool({ ...rest, cuts: [cutsInto[stages]!] })
  await pool.train()
  return pool
}

const slow = { engineMs: () => 5, linkMs: 20 }

function eventsOf(pool: Pool, peer: string): StageEvent[] {
  return pool.events.filter((one) => one.peer === peer).map(({ event }) => event)
}

/** Most micro-batches that were forwarded at the root and not yet back, at any moment. */
function mostInFlight(pool: Pool): number {
  let now = 0
  let most = 0
  for (const { type } of eventsOf(pool, peerName(0, 0))) {
    if (type === 'forward') now += 1
    if (type === 'backward') now -= 1
    most = Math.max(most, now)
  }
  return most
}

describe('an asynchronous pipeline', () => {
  it('takes every gradient at the weights of its own forward pass, bit for bit, whatever the delays', async () => {
    await fc.assert(
      fc.asyncProperty(runs, async (run) => {
        const pool = await trained({ ...run, ...slow })
        expect(await allNumbers(pool)).toEqual(await replay(pool))
        expect(pool.members.flatMap(({ refused }) => refused)).toEqual([])
      }),
      { numRuns: 40 },
    )
  })

  it('never has more micro-batches in flight than credits, and uses them all', async () => {
    for (const inFlight of [1, 2, 4, 6]) {
      const pool = await trained({ stages: 3, inFlight, targetUpdates: 12, ...slow })
      expect(mostInFlight(pool)).toBe(inFlight)
    }
  })

  it('bounds staleness by the credits, with none at the leaf, and predicts exactly the staleness that comes', async () => {
    await fc.assert(
      fc.asyncProperty(runs, async (run) => {
        const pool = await trained({ ...run, staleness: 'predict', ...slow })
        const bound = Math.floor((run.accumulate - 1 + run.inFlight - 1) / run.accumulate)
        for (const { peer, stage } of pool.members) {
          expect(stage.stats().maxStaleness).toBeLessThanOrEqual(bound)
          expect(predictions(eventsOf(pool, peer))).toEqual(stalenesses(eventsOf(pool, peer)))
        }
        expect(pool.members.at(-1)!.stage.stats().maxStaleness).toBe(0)
      }),
      { numRuns: 25 },
    )
  })
})

/** All numbers of the stages, stage after stage, as `replay` gives them. */
async function allNumbers(pool: Pool): Promise<number[]> {
  const states = await Promise.all(
    pool.members.map(({ engine, assignment }) => pool.clock.runUntil(engine.readState(assignment.layers))),
  )
  return states.flatMap(({ values }) => [...values])
}

function predictions(events: readonly StageEvent[]): number[] {
  return events.flatMap((event) => (event.type === 'forward' ? [event.predict] : []))
}

function stalenesses(events: readonly StageEvent[]): number[] {
  const versions = new Map<number, number>()
  return events.flatMap((event) => {
    if (event.type === 'forward') versions.set(event.microBatch, event.version)
    return event.type === 'backward' ? [event.version - versions.get(event.microBatch)!] : []
  })
}

describe('a pipeline with one credit', () => {
  it('equals one stage bit for bit, however it is cut, running statistics included', async () => {
    const common = { graph: normGraph, inFlight: 1, accumulate: 3, targetUpdates: 5, optimizer: adam }
    const whole = await trained({ stages: 1, ...common })
    for (const stages of [2, 3, 4])
      expect(await numbersOf(await trained({ stages, ...common, ...slow }))).toEqual(await numbersOf(whole))
  })

  it('also with prediction on: there is nothing to predict', async () => {
    const common = { inFlight: 1, accumulate: 2, optimizer: adam }
    const plain = await trained({ stages: 3, staleness: 'none', ...common })
    expect(await numbersOf(await trained({ stages: 3, staleness: 'predict', ...common }))).toEqual(
      await numbersOf(plain),
    )
  })

  it('learns', async () => {
    const pool = await trained({ stages: 2, targetUpdates: 60, accumulate: 1, trainSamples: 60 })
    const losses = pool.members.at(-1)!.tallies.map(({ lossSum, labels }) => lossSum / labels)
    const mean = (part: readonly number[]) => part.reduce((sum, one) => sum + one, 0) / part.length
    expect(mean(losses.slice(-10))).toBeLessThan(mean(losses.slice(0, 10)) / 2)
  })
})

const numbersOf = (pool: Pool) => pool.clock.runUntil(pool.numbers(0))

describe('the end of a stream', () => {
  it('comes by itself at the target, after exactly the micro-batches it takes, everywhere', async () => {
    const pool = await trained({ stages: 3, targetUpdates: 5, accumulate: 3, ...slow })
    for (const { peer, stage } of pool.members) {
      // 15 micro-batches of 4 of 37 samples: nine of 4 and one of 1, then five of 4.
      expect(await stage.finished).toEqual({ updates: 5, samples: 57 })
      expect(eventsOf(pool, peer).filter(({ type }) => type === 'forward')).toHaveLength(15)
    }
  })

  it('comes when asked, and the rest that fills no update is applied, not lost', async () => {
    const pool = await createPool({ cuts: [[3]], accumulate: 4, targetUpdates: 1000, ...slow })
    pool.start()
    const ends = Promise.all(pool.members.map(({ stage }) => stage.finished))
    await pool.clock.advance(400)
    pool.roots[0]!.stage.finish()
    const [root, leaf] = await pool.clock.runUntil(ends)
    const backward = eventsOf(pool, peerName(0, 0)).filter(({ type }) => type === 'backward').length
    expect(backward).toBeGreaterThan(8)
    expect(root).toEqual({ updates: Math.ceil(backward / 4), samples: trainedSamples(backward) })
    expect(leaf).toEqual(root)
    expect(await allNumbers(pool)).toEqual(await replay(pool))
  })

  it('comes at once when nothing was admitted', async () => {
    const pool = await createPool({ cuts: [[3]] })
    pool.roots[0]!.stage.finish()
    const ends = await pool.clock.runUntil(Promise.all(pool.members.map(({ stage }) => stage.finished)))
    expect(ends).toEqual([
      { updates: 0, samples: 0 },
      { updates: 0, samples: 0 },
    ])
  })
})

/** In so many micro-batches of at most 4 of epochs of 37 samples. */
function trainedSamples(microBatches: number): number {
  return Array.from({ length: microBatches }, (_, m) => (m % 10 === 9 ? 1 : 4)).reduce((a, b) => a + b, 0)
}

describe('a held cluster', () => {
  it('empties, stands still until it may go on, and trains to the same end as one that was never held', async () => {
    const settings = { inFlight: 1, accumulate: 2, targetUpdates: 8, ...slow }
    const pool = await createPool({ cuts: [[2, 5]], ...settings })
    pool.start()
    const ends = Promise.all(pool.members.map(({ stage }) => stage.finished))
    await pool.clock.advance(150)
    const root = pool.roots[0]!.stage
    expect(await pool.clock.runUntil(root.hold())).toBe('held')
    const held = pool.events.length
    expect(root.stats()).toMatchObject({ inFlight: 0, waitingFor: 'waiting for the host to go on' })
    await pool.clock.advance(10_000)
    expect(pool.events).toHaveLength(held)
    root.proceed()
    await pool.clock.runUntil(ends)
    expect(await numbersOf(pool)).toEqual(await numbersOf(await trained({ stages: 3, ...settings })))
  })

  it('says so when it may go on before it was empty', async () => {
    const pool = await createPool({ cuts: [[3]], ...slow })
    pool.start()
    await pool.clock.advance(30)
    const holding = pool.roots[0]!.stage.hold()
    pool.roots[0]!.stage.proceed()
    expect(await holding).toBe('proceeded')
  })
})

describe('a stage that rests', () => {
  const settings = { inFlight: 2, accumulate: 2, targetUpdates: 40, ...slow }

  it('keeps what is in flight, and everyone trains to the same end once it goes on', async () => {
    const pool = await createPool({ cuts: [[2, 5]], ...settings })
    pool.start()
    const ends = Promise.all(pool.members.map(({ stage }) => stage.finished))
    await pool.clock.advance(150)
    const [, middle] = pool.ofCluster(0)
    middle!.stage.rest(true)
    await pool.clock.advance(500)
    const stood = pool.events.length
    await pool.clock.advance(10_000)
    expect(pool.events).toHaveLength(stood)
    expect(pool.roots[0]!.stage.stats().inFlight).toBe(2)
    middle!.stage.rest(false)
    for (const { updates } of await pool.clock.runUntil(ends)) expect(updates).toBe(40)
    expect(await allNumbers(pool)).toEqual(await replay(pool))
  })

  it.each([0, 1, 2])('goes on to the end once that is known: stage %i', async (index) => {
    const pool = await createPool({ cuts: [[2, 5]], ...settings, targetUpdates: 1000 })
    pool.start()
    const ends = Promise.all(pool.members.map(({ stage }) => stage.finished))
    await pool.clock.advance(150)
    pool.ofCluster(0)[index]!.stage.rest(true)
    await pool.clock.advance(500)
    pool.roots[0]!.stage.finish()
    const [root, ...others] = await pool.clock.runUntil(ends)
    for (const other of others) expect(other).toEqual(root)
    expect(await allNumbers(pool)).toEqual(await replay(pool))
  })
})

describe('a stage whose gradient is no number', () => {
  it('drops that update, says so, and trains on', async () => {
    const pool = await createPool({ cuts: [[3]], inFlight: 1, accumulate: 2, targetUpdates: 4 })
    const [root, leaf] = pool.ofCluster(0)
    const backward = root!.engine.backward.bind(root!.engine)
    root!.engine.backward = (microBatch, gradient) => {
      if (microBatch === 3) gradient.data[0] = NaN
      return backward(microBatch, gradient)
    }
    await pool.train()
    expect(root!.stage.stats()).toMatchObject({ updates: 4, dropped: 1, samples: 24 })
    expect(leaf!.stage.stats()).toMatchObject({ updates: 4, dropped: 0, samples: 32 })
  })
})

describe('a stopped stage', () => {
  it('ends at once with the reason and leaves nothing in the engine', async () => {
    const pool = await createPool({ cuts: [[2, 5]], inFlight: 4, targetUpdates: 1000, ...slow })
    pool.start()
    await pool.clock.advance(100)
    for (const { stage, engine } of pool.members) {
      await pool.clock.runUntil(stage.stop('a new plan'))
      await expect(stage.finished).rejects.toMatchObject({ code: 'aborted', message: 'a new plan' })
      expect((await pool.clock.runUntil(engine.memory())).tensors).toBe(0)
    }
    const stopped = pool.events.length
    await pool.clock.advance(1000)
    expect(pool.events).toHaveLength(stopped)
    expect(await pool.roots[0]!.stage.hold()).toBe('proceeded')
  })

  it('breaks with a lost neighbour, and says which', async () => {
    const pool = await createPool({ cuts: [[3]], targetUpdates: 1000, ...slow })
    pool.start()
    await pool.clock.advance(100)
    const severed = pool.network.sever(peerName(0, 1))
    await expect(pool.clock.runUntil(pool.roots[0]!.stage.finished)).rejects.toMatchObject({
      code: 'peer-lost',
    })
    await severed
  })
})

describe('a stage that waits', () => {
  it('says for whom', async () => {
    const pool = await createPool({ cuts: [[3]], inFlight: 1, targetUpdates: 1000, linkMs: 1000 })
    const [root, leaf] = pool.ofCluster(0)
    const waits = () => [root!.stage.stats().waitingFor, leaf!.stage.stats().waitingFor]
    expect(waits()).toEqual(['waiting for the start', 'waiting for activations from c0s0'])
    root!.stage.start()
    await pool.clock.settle()
    expect(waits()).toEqual(['waiting for gradients from c0s1', 'waiting for activations from c0s0'])
  })

  it('does nothing at all meanwhile: no timer, no engine call', async () => {
    const pool = await createPool({ cuts: [[3]] })
    await expect(pool.clock.runUntil(pool.roots[0]!.stage.finished)).rejects.toThrow(
      'everything stands still',
    )
    expect(pool.events).toEqual([])
  })
})
