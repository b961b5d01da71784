import { describe, expect, it } from 'vitest'
import { Donor } from '../../../../main/core/job/moving/donor.ts'
import { lengthOf } from '../../../../main/core/job/moving/held.ts'
import type { Header, WireMessage } from '../../../../shared/messages/wire.ts'
import { createVirtualClock } from '../../../fakes/clock.ts'
import { bytesOf, createPeers, emptyRun, job, modelOf, numbersOf, of, wholeRun } from './peers.ts'

const small = modelOf(2, 300)
const run = wholeRun(small)
const layers: [number, number] = [run[0], run[1]]

describe('a donor', () => {
  it('serves four of twenty joiners at a time, in the order they came, and all of them in the end', async () => {
    const pending: { readonly to: string; readonly offset: number; readonly go: () => void }[] = []
    const links = {
      send: (to: string, { header }: WireMessage<'state-piece'>) =>
        new Promise<void>((resolve) => {
          pending.push({ to, offset: header.offset, go: resolve })
        }),
    }
    const clock = createVirtualClock()
    const donor = new Donor({ links: links as never, clock }, job)
    donor.open(of, small)
    donor.offer(of, () => numbersOf(small, run))
    const length = lengthOf(small.layouts, run)
    const names = Array.from({ length: 20 }, (_, index) => `pc-${index}`)
    for (const name of names)
      donor.deliver(name, { type: 'state-request', job, plan: 8, of, layers, from: 0, to: length })
    const got: string[] = []
    await clock.settle()
    while (pending.length > 0) {
      expect(pending.length).toBeLessThanOrEqual(4)
      const { to, offset, go } = pending.shift()!
      if (offset > 0) got.push(to)
      go()
      await clock.settle()
    }
    // Three pieces each, the first of them not counted.
    expect(got).toHaveLength(2 * 20)
    expect([...new Set(got)]).toEqual(names)
  })

  it('is relieved by those who have it already: they give it on', async () => {
    const peers = createPeers(small)
    const held = numbersOf(small, run)
    peers.donor('donor', held)
    peers.donor('pc-0', held)
    const donors = [{ layers, peers: ['donor', 'pc-0'] }]
    const takers = Array.from({ length: 8 }, (_, index) =>
      peers.taker(`joiner-${index}`, [run], donors, emptyRun(small, run)),
    )
    await peers.clock.runUntil(Promise.all(takers.map(({ done }) => done)))
    const given = ['donor', 'pc-0'].map((name) => peers.network.linksOf(name).sentBytes().parameters)
    expect(given).toEqual([4 * bytesOf(small, run), 4 * bytesOf(small, run)])
  })
})

describe('a request', () => {
  function alone() {
    const answers: WireMessage['header'][] = []
    const links = { send: (_to: string, { header }: WireMessage) => Promise.resolve(answers.push(header)) }
    const clock = createVirtualClock()
    const donor = new Donor({ links: links as never, clock }, job)
    const length = small.layouts.length
    const ask = (change: Partial<Header<'state-request'>> = {}) => {
      const asked = { type: 'state-request' as const, job, plan: 8, of, layers, from: 0, to: 1, ...change }
      donor.deliver('me', asked)
      return clock.settle().then(() => answers.map(({ type }) => type))
    }
    return { donor, ask, answers, length }
  }

  it('waits for a stop that this PC has not heard of, and for what is still read', async () => {
    const { donor, ask } = alone()
    expect(await ask()).toEqual([])
    donor.open(of, small)
    expect(await ask({ from: 0, to: 2 })).toEqual([])
    donor.offer(of, () => numbersOf(small, run))
    expect(await ask({ to: 3 })).toEqual(['state-piece', 'state-piece', 'state-piece'])
  })

  it.each([
    ['of an earlier stop', { of: of - 1 }],
    ['for layers that are not here', {}],
    ['for layers that the model has not', { layers: [0, 99] as [number, number] }],
    ['for no layers', { layers: [1, 1] as [number, number] }],
    ['for more numbers than there are', { to: 1e9 }],
    ['that ends before it begins', { from: 2, to: 1 }],
  ])('%s is refused', async (_, change) => {
    const { donor, ask } = alone()
    donor.open(of, small)
    const isThere = Object.keys(change).some((key) => key !== 'of')
    if (isThere) donor.offer(of, () => numbersOf(small, run))
    donor.settle(of)
    expect(await ask(change)).toEqual(['state-refused'])
  })

  it('is not answered twice when it is said again, and a peer may only have a few', async () => {
    const { donor, ask } = alone()
    for (let to = 1; to <= 9; to++) await ask({ to })
    await ask({ to: 1 })
    donor.open(of, small)
    donor.settle(of)
    expect(await ask({ to: 2 })).toEqual(Array.from({ length: 4 }, () => 'state-refused'))
  })

  it('is refused when nobody needs the numbers any more', async () => {
    const { donor, ask } = alone()
    donor.open(of, small)
    donor.offer(of, () => numbersOf(small, run))
    donor.close()
    expect(await ask()).toEqual(['state-refused'])
  })
})
