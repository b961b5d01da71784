import { describe, expect, it } from 'vitest'
import { crowdCosts } from '../../../main/core/job/host/crowd.ts'
import { rehearse, rehearseIfAble } from '../../../main/core/job/rehearsal.ts'
import { InvariantError } from '../../../shared/errors.ts'
import { createVirtualClock } from '../../fakes/clock.ts'
import { createFakeEngine } from '../../fakes/engine.ts'

const { signal } = new AbortController()
const rehearsal = { peer: 'b', plan: 0, seconds: 2, signal, isOver: () => false }

/** Calls take 5 ms and use 4 of the processor's, an exchange 10 ms and 6; the neighbour answers so many. */
function agent(answers = Infinity) {
  const clock = createVirtualClock()
  let usedMs = 0
  const delay = () => {
    usedMs += 4
    return 5
  }
  let asked = 0
  const exchange = async () => {
    await clock.sleep(10)
    usedMs += 6
    return ++asked <= answers
  }
  const never = () => Promise.resolve([])
  const probes = { exchange, measure: never, lost: () => undefined, deliver: () => undefined }
  return { clock, engine: createFakeEngine({ clock, delay }), probes, processorMs: () => usedMs }
}

describe('a rehearsal', () => {
  it('counts passes alone, then with a message after each, and what both take of the processor', async () => {
    const ports = agent()
    const told = await ports.clock.runUntil(rehearse(ports, rehearsal))
    // Half a second for passes of 10 ms, less what loading takes; then passes with an exchange, 20 ms.
    expect(told.passes).toBeGreaterThanOrEqual(48)
    expect(told.passSeconds).toBeCloseTo(0.008 * told.passes, 9)
    expect(told.exchanges).toBe(75)
    expect(told.exchangeSeconds).toBeCloseTo(0.014 * told.exchanges, 9)
  })

  it('ends where the neighbour does not answer any more', async () => {
    const ports = agent(3)
    const told = await ports.clock.runUntil(rehearse(ports, rehearsal))
    expect(told.exchanges).toBe(3)
    expect(ports.clock.now()).toBeLessThan(700)
  })
})

it('leaves the engine to a stage that is given out meanwhile', async () => {
  const ports = agent()
  const isOver = () => ports.clock.now() >= 300
  const told = await ports.clock.runUntil(rehearse(ports, { ...rehearsal, isOver }))
  expect(told.exchanges).toBe(0)
  expect(ports.clock.now()).toBeLessThan(320)
  // Not unloaded: whoever wanted it loads it anew.
  expect((await ports.clock.runUntil(ports.engine.readState([0, 1]))).layers).toEqual([0, 1])
})

it('tells of nothing where the processor cannot be asked, or the engine fails', async () => {
  const { processorMs: _none, ...ports } = agent()
  const nothing = { passes: 0, passSeconds: 0, exchanges: 0, exchangeSeconds: 0 }
  expect(await rehearseIfAble(ports, rehearsal)).toEqual(nothing)
  const load = () => Promise.reject(new InvariantError('no memory'))
  const engine = { ...ports.engine, load, unload: load }
  expect(await rehearseIfAble({ ...ports, engine, processorMs: () => 0 }, rehearsal)).toEqual(nothing)
})

describe('the costs of a crowd', () => {
  const envelope = { type: 'rehearsed', job: 'a'.repeat(64), plan: 0 } as const

  it('are what all of them used, over what all of them did', () => {
    const told = [
      { ...envelope, passes: 30, passSeconds: 0.09, exchanges: 10, exchangeSeconds: 0.1 },
      { ...envelope, passes: 10, passSeconds: 0.07, exchanges: 10, exchangeSeconds: 0.06 },
    ]
    // 160 ms for 40 passes of two calls; 160 ms for 20 of them with an exchange each.
    expect(crowdCosts(told)).toEqual({
      callSeconds: expect.closeTo(0.002, 12) as number,
      exchangeSeconds: expect.closeTo(0.004, 12) as number,
    })
  })

  it('are not known where nobody could tell', () => {
    expect(crowdCosts([])).toBeUndefined()
    const nothing = { ...envelope, passes: 0, passSeconds: 0, exchanges: 0, exchangeSeconds: 0 }
    expect(crowdCosts([nothing])).toBeUndefined()
  })
})
