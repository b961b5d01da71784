import { describe, expect, it } from 'vitest'
import { crowdCosts } from '../../../main/core/job/host/crowd.ts'
import { rehearse, rehearseIfAble } from '../../../main/core/job/rehearsal.ts'
import type { StageEngine } from '../../../main/core/ports.ts'
import { InvariantError } from '../../../shared/errors.ts'
import { floatTensor } from '../../../shared/tensor.ts'
import { createVirtualClock } from '../../fakes/clock.ts'
import { smallJob } from '../../scenarios/pool.ts'

const { signal } = new AbortController()
const { graph, recipe } = smallJob()
const part = { graph, recipe, layers: [0, 2] as const, samples: 8 }
const rehearsal = { peer: 'b', plan: 0, seconds: 5, part, signal, isOver: () => false }

/** Calls take 5 ms and use 4 of the processor's, an exchange 10 ms and 6; the neighbour answers so many. */
function agent(answers = Infinity) {
  const clock = createVirtualClock()
  let usedMs = 0
  let held = ''
  let lastCallMs = 0
  const call = async <T>(result: T) => {
    lastCallMs = clock.now()
    await clock.sleep(5)
    usedMs += 4
    return result
  }
  const tensor = floatTensor(new Float32Array(4), [1, 4])
  const never = () => Promise.reject(new InvariantError('a rehearsal does not need this'))
  const engine: StageEngine = {
    backend: 'scripted',
    load({ graph }) {
      held = graph.name
      return call(undefined)
    },
    unload() {
      held = ''
      return call(undefined)
    },
    writeState: () => call(undefined),
    forward: () => call(tensor),
    backward: () => call(undefined),
    forwardLoss: () =>
      call({ tally: { lossSum: 1, labels: 1, correct: 0, correctTop5: 0 }, inputGradient: undefined }),
    update: () => call({ applied: true, gradientNorm: 1 }),
    ...{ discard: never, infer: never, judge: never, readState: never, addToState: never },
    ...{ readOptimizer: never, writeOptimizer: never, memory: never },
  }
  let asked = 0
  const exchange = async () => {
    await clock.sleep(10)
    usedMs += 6
    return ++asked <= answers
  }
  const probes = {
    exchange,
    measure: () => Promise.resolve([]),
    lost: () => undefined,
    deliver: () => undefined,
  }
  return { clock, engine, probes, processorMs: () => usedMs, held: () => held, lastCallMs: () => lastCallMs }
}

describe('a rehearsal', () => {
  it('counts steps three times, passes alone and with a message after each, and what they take of the processor', async () => {
    const ports = agent()
    const told = await ports.clock.runUntil(rehearse(ports, rehearsal))
    // 0.6, 0.5 and 0.6 s for steps of 10 ms, less what loading and the first ones take.
    expect(told.looks).toHaveLength(3)
    for (const { steps, seconds } of told.looks) {
      expect(steps).toBeGreaterThanOrEqual(38)
      // Two calls, and an update in four steps.
      expect(Math.abs(seconds - 0.009 * steps)).toBeLessThan(0.004)
    }
    // 0.8 s for passes of 10 ms, 2.5 s for passes with an exchange of 10 more.
    expect(told.passes).toBeGreaterThanOrEqual(77)
    expect(told.passSeconds).toBeCloseTo(0.008 * told.passes, 9)
    expect(told.exchanges).toBeGreaterThanOrEqual(123)
    expect(told.exchangeSeconds).toBeCloseTo(0.014 * told.exchanges, 9)
  })

  it('makes no more exchanges where the neighbour does not answer any more', async () => {
    const ports = agent(3)
    const told = await ports.clock.runUntil(rehearse(ports, rehearsal))
    expect(told.exchanges).toBe(3)
    expect(told.looks).toHaveLength(3)
  })
})

describe('a rehearsal whose engine is wanted for a stage', () => {
  it('tells of nothing, and leaves the engine to whoever loads it anew', async () => {
    const ports = agent()
    const isOver = () => ports.clock.now() >= 300
    const told = await ports.clock.runUntil(rehearseIfAble(ports, { ...rehearsal, isOver }))
    expect(told.looks).toEqual([])
    expect(ports.clock.now()).toBeLessThan(320)
    expect(ports.held()).toBe(graph.name)
  })

  it('makes no call after that, whichever is under way: it would be the stage that it hits', async () => {
    for (let wantedMs = 0; wantedMs < 5000; wantedMs += 11) {
      const ports = agent()
      const isOver = () => ports.clock.now() >= wantedMs
      await ports.clock.runUntil(rehearseIfAble(ports, { ...rehearsal, isOver }))
      expect(ports.lastCallMs(), `wanted after ${wantedMs} ms`).toBeLessThan(Math.max(1, wantedMs))
    }
  })
})

it('tells of nothing where the processor cannot be asked, or the engine fails', async () => {
  const { processorMs: _none, ...ports } = agent()
  const nothing = { looks: [], passes: 0, passSeconds: 0, exchanges: 0, exchangeSeconds: 0 }
  expect(await rehearseIfAble(ports, rehearsal)).toEqual(nothing)
  const load = () => Promise.reject(new InvariantError('no memory'))
  const engine = { ...ports.engine, load, unload: load }
  expect(await rehearseIfAble({ ...ports, engine, processorMs: () => 0 }, rehearsal)).toEqual(nothing)
})

describe('the costs of a crowd', () => {
  const envelope = { type: 'rehearsed', job: 'a'.repeat(64), plan: 0 } as const

  it('are what all of them used, over what all of them did', () => {
    const told = [
      {
        ...{ ...envelope, passes: 30, passSeconds: 0.09, exchanges: 10, exchangeSeconds: 0.1 },
        looks: [{ steps: 1, seconds: 3 }, { steps: 2, seconds: 2.5 }, { steps: 1, seconds: 1 }], // prettier-ignore
      },
      {
        ...{ ...envelope, passes: 10, passSeconds: 0.07, exchanges: 10, exchangeSeconds: 0.06 },
        looks: [{ steps: 1, seconds: 3 }, { steps: 3, seconds: 5 }, { steps: 1, seconds: 1 }], // prettier-ignore
      },
    ]
    // 6 s for two steps of a second, 7.5 s for five, 2 s for two: the median is half as long again.
    const all = told.map((one) => ({ told: one, stepSeconds: 1, calls: 0 }))
    // 160 ms for 40 passes of two calls; 160 ms for 20 of them with an exchange each.
    expect(crowdCosts(all)).toEqual({
      slower: expect.closeTo(1.5, 12) as number,
      callSeconds: expect.closeTo(0.002, 12) as number,
      exchangeSeconds: expect.closeTo(0.004, 12) as number,
    })
  })

  it('count calls by themselves, and not as work', () => {
    const told = { ...envelope, passes: 10, passSeconds: 0.2, exchanges: 10, exchangeSeconds: 0.2 }
    const looks = [{ steps: 10, seconds: 1 }]
    // Ten steps of three calls of 10 ms: 0.7 s of work for what takes 0.5 alone.
    const costs = crowdCosts([{ told: { ...told, looks }, stepSeconds: 0.05, calls: 3 }])
    expect(costs?.slower).toBeCloseTo(1.4, 12)
  })

  it('are not known where nobody could tell', () => {
    expect(crowdCosts([])).toBeUndefined()
    const nothing = { ...envelope, looks: [], passes: 0, passSeconds: 0, exchanges: 0, exchangeSeconds: 0 }
    expect(crowdCosts([{ told: nothing, stepSeconds: 1, calls: 2 }])).toBeUndefined()
  })
})
