import { describe, expect, it } from 'vitest'
import { createRestingEngine } from '../../../main/core/limits/duty.ts'
import type { StageEngine } from '../../../main/core/ports.ts'
import { floatTensor } from '../../../shared/tensor.ts'
import { hour, second } from '../../../shared/units.ts'
import { createVirtualClock } from '../../fakes/clock.ts'

const input = floatTensor(Float32Array.of(1))

/** An engine whose work takes 100 ms, and what it was asked when. */
function start(given: number) {
  const clock = createVirtualClock()
  const calls: [string, number][] = []
  const setting = { share: given }
  const call = (name: string, ms: number) => async () => {
    calls.push([name, clock.now()])
    if (ms > 0) await clock.sleep(ms)
    return input
  }
  const bare = { infer: call('infer', 100), update: call('update', 100), readState: call('readState', 0) }
  const resting = createRestingEngine(bare as unknown as StageEngine, clock, { share: () => setting.share })
  return { clock, calls, setting, ...resting }
}

describe('an engine that may work a quarter of the time', () => {
  it('begins its calls four times as far apart as they take', async () => {
    const { engine, clock, calls, ...resting } = start(0.25)
    await clock.runUntil(Promise.all([engine.infer(input), engine.infer(input), engine.update()]))
    expect(calls).toEqual([
      ['infer', 0],
      ['infer', 400],
      ['update', 800],
    ])
    expect(resting.restedMs()).toBe(600)
    expect(clock.now()).toBe(900)
  })

  it('hands over a result at once, and counts idle time as rest', async () => {
    const { engine, clock, calls, ...resting } = start(0.25)
    await clock.runUntil(engine.infer(input))
    expect(clock.now()).toBe(100)
    await clock.advance(250)
    await clock.runUntil(engine.infer(input))
    expect(calls.at(-1)).toEqual(['infer', 400])
    expect(resting.restedMs()).toBe(50)
  })

  it('keeps the order of calls, those that compute nothing among them', async () => {
    const { engine, clock, calls } = start(0.25)
    await clock.runUntil(Promise.all([engine.infer(input), engine.update(), engine.readState([0, 1])]))
    expect(calls.map(([name]) => name)).toEqual(['infer', 'update', 'readState'])
  })

  it('works on within a second when it may again, or when it is woken', async () => {
    const { engine, clock, calls, setting } = start(0.05)
    void engine.infer(input)
    void engine.infer(input)
    await clock.advance(300)
    setting.share = 1
    await clock.advance(250)
    expect(calls).toHaveLength(2)

    const woken = start(0.05)
    void woken.engine.infer(input)
    void woken.engine.infer(input)
    await woken.clock.advance(101)
    woken.wake()
    await woken.clock.settle()
    expect(woken.calls.at(-1)).toEqual(['infer', 101])
  })
})

it('owes no rest for a time in which its PC slept in the middle of a call', async () => {
  const virtual = createVirtualClock()
  let sleptMs = 0
  const clock = { ...virtual, now: () => virtual.now() + sleptMs }
  const begun: number[] = []
  const infer = async () => {
    begun.push(clock.now() - sleptMs)
    await virtual.sleep(100)
    sleptMs = hour
    return input
  }
  const { engine } = createRestingEngine({ infer } as unknown as StageEngine, clock, { share: () => 0.25 })
  await virtual.runUntil(Promise.all([engine.infer(input), engine.infer(input)]))
  // It counts as the half second within which we would have looked again.
  expect(begun).toEqual([0, 100 + 3 * 500])
})

it('counts a long call as it is', async () => {
  const clock = createVirtualClock()
  const begun: number[] = []
  const infer = async () => {
    begun.push(clock.now())
    await clock.sleep(10 * second)
    return input
  }
  const { engine } = createRestingEngine({ infer } as unknown as StageEngine, clock, { share: () => 0.25 })
  await clock.runUntil(Promise.all([engine.infer(input), engine.infer(input)]))
  expect(begun).toEqual([0, 40 * second])
})

it('does not touch the calls of an engine that may always work', async () => {
  const { engine, clock, calls, ...resting } = start(1)
  await clock.runUntil(Promise.all([engine.infer(input), engine.infer(input)]))
  expect(calls).toEqual([
    ['infer', 0],
    ['infer', 0],
  ])
  expect(resting.restedMs()).toBe(0)
})

it('sets no timer around the calls of an engine that may always work', async () => {
  let sleeps = 0
  const sleep = () => {
    sleeps++
    return Promise.withResolvers<undefined>().promise
  }
  const clock = { now: () => 0, sleep }
  const infer = () => Promise.resolve(input)
  const setting = { share: 1 }
  const share = () => setting.share
  const { engine } = createRestingEngine({ infer } as unknown as StageEngine, clock, { share })
  await Promise.all([engine.infer(input), engine.infer(input)])
  expect(sleeps).toBe(0)
  setting.share = 0.5
  await engine.infer(input)
  expect(sleeps).toBeGreaterThan(0)
})

it('goes on after a call that failed', async () => {
  const clock = createVirtualClock()
  let failing = true
  const bare = {
    update: () =>
      failing ? Promise.reject(new TypeError('no')) : Promise.resolve({ applied: true, gradientNorm: 1 }),
  }
  const { engine } = createRestingEngine(bare as unknown as StageEngine, clock, { share: () => 0.5 })
  await expect(engine.update()).rejects.toThrow('no')
  failing = false
  expect(await clock.runUntil(engine.update())).toMatchObject({ applied: true })
})
