import { describe, expect, it } from 'vitest'
import { BadMessageError } from '../../../shared/errors.ts'
import { Aftermath, type Retired } from '../../../main/core/averaging/aftermath.ts'
import { Running } from '../../../main/core/averaging/running.ts'
import { job } from '../pipeline/pool.ts'

const all = ['us', 'one', 'two']

/** We hold the mean of round 7; who of the others does, we do not know. */
function inDoubt() {
  const running = new Running(7, all, 0)
  const ended = running.becomeWhole('us').then(
    () => 'written',
    () => 'given up',
  )
  const ring: Retired = {
    ...{ planNumber: 3, ring: 0, others: ['one', 'two'], committed: 6, running },
    over: ended.then(() => undefined),
  }
  const told: unknown[] = []
  const aftermath = new Aftermath(
    (to, word) => told.push([to, word]),
    () => undefined,
  )
  const hear = (from: string, round: number, plan = 4) => {
    aftermath.hear(from, { type: 'round-held', job, plan, ring: 0, of: 3, round })
  }
  return { running, ring, aftermath, told, hear, ended }
}
const nextPlan = (planNumber: number, ...present: string[]) => ({
  planNumber,
  present: new Set(['us', ...present]),
  active: true,
})

describe('a round in doubt when its plan ends', () => {
  it('is written when all who go on hold its mean, and not before they said so', async () => {
    const { aftermath, ring, told, hear, running, ended } = inDoubt()
    aftermath.carryOver([ring], nextPlan(4, 'one', 'two'))
    expect(told).toEqual(['one', 'two'].map((peer) => [peer, { ring: 0, round: 7, of: 3 }]))
    hear('one', 7)
    expect([running.inDoubt, aftermath.isOpen, aftermath.waitingFor]).toEqual([true, true, ['two']])
    hear('two', 7)
    expect(await ended).toBe('written')
  })

  it('is given up when one of them does not, and that is what we say from then on', async () => {
    const { aftermath, ring, told, hear, ended } = inDoubt()
    aftermath.carryOver([ring], nextPlan(4, 'one', 'two'))
    hear('one', 7)
    hear('two', 6)
    expect(await ended).toBe('given up')
    told.length = 0
    aftermath.carryOver([], nextPlan(5, 'one'))
    expect(told).toEqual([['one', { ring: 0, round: 6, of: 3 }]])
  })

  it('does not depend on whoever is gone, and forgets what was said under an older plan', async () => {
    const { aftermath, ring, hear, running, ended } = inDoubt()
    aftermath.carryOver([ring], nextPlan(4, 'one', 'two'))
    hear('one', 7)
    aftermath.carryOver([], nextPlan(5, 'one'))
    expect(running.inDoubt).toBe(true)
    // Who comes back after a plan without it has no say.
    expect(() => { hear('two', 6, 5) }).toThrow(BadMessageError) // prettier-ignore
    hear('one', 7, 5)
    expect(await ended).toBe('written')
  })

  it('is written by who is left alone, and given up by who is in no plan', async () => {
    const alone = inDoubt()
    alone.aftermath.carryOver([alone.ring], nextPlan(4))
    expect(await alone.ended).toBe('written')
    const out = inDoubt()
    out.aftermath.carryOver([out.ring], { ...nextPlan(4, 'one', 'two'), active: false })
    expect(await out.ended).toBe('given up')
  })
})
