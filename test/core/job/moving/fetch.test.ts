import { describe, expect, it } from 'vitest'
import { checksumOf } from '../../../../main/core/job/moving/checksum.ts'
import { parcelsOf } from '../../../../main/core/job/moving/parcels.ts'
import type { LayerRange } from '../../../../shared/model/graph.ts'
import { floatTensor } from '../../../../shared/tensor.ts'
import { BadMessageError } from '../../../../shared/errors.ts'
import { allOf, bytesOf, createPeers, emptyRun, job, modelOf, numbersOf, of, wholeRun } from './peers.ts'

/** 24 layers of 74 000 numbers, three vectors: two parcels of pieces of 1 MiB. */
const wide = modelOf(24, 270)
const all = wholeRun(wide)
const donors = (...peers: string[]) => [{ layers: [all[0], all[1]] as [number, number], peers }]
const sentBy = (peers: ReturnType<typeof createPeers>, name: string) =>
  peers.network.linksOf(name).sentBytes()

/** Bit for bit; element by element would take seconds. */
function expectSame(one: Float32Array, other: Float32Array): void {
  expect(one.length).toBe(other.length)
  expect(Buffer.compare(Buffer.from(one.buffer), Buffer.from(other.buffer))).toBe(0)
}

describe('numbers that are fetched', () => {
  it('are the same bits, come from several donors side by side, and are all that travels', async () => {
    const peers = createPeers(wide)
    const held = numbersOf(wide, all)
    for (const name of ['one', 'two']) peers.donor(name, held)
    const wanted: LayerRange[] = [[0, 20], [31, 72]] // prettier-ignore
    const into = emptyRun(wide, all)
    await peers.clock.runUntil(peers.taker('me', wanted, donors('one', 'two'), into).done)
    for (const run of wanted) expectSame(allOf(wide, into, run), allOf(wide, held, run))
    expect(allOf(wide, into, [20, 31]).every((value) => value === 0)).toBe(true)
    const given = ['one', 'two'].map((name) => sentBy(peers, name).parameters)
    expect(given.reduce((sum, bytes) => sum + bytes)).toBe(
      wanted.reduce((sum, run) => sum + bytesOf(wide, run), 0),
    )
    expect(Math.min(...given)).toBeGreaterThan(0)
    const pieces = peers.sent.filter(({ message }) => message.header.type === 'state-piece')
    for (const { message } of pieces)
      expect(message.tensors[0]!.data.byteLength).toBeLessThanOrEqual(1024 * 1024)
  })

  it('go on with another donor where they stood when one is lost', async () => {
    const peers = createPeers(wide, { window: 1 })
    const held = numbersOf(wide, all)
    for (const name of ['one', 'two']) peers.donor(name, held)
    const [first] = parcelsOf(wide, [all])
    const into = emptyRun(wide, first!)
    const fetch = peers.taker('me', [first!], donors('one', 'two'), into)
    const pieces = (from: string) =>
      peers.sent.filter((one) => one.from === from && one.message.header.type === 'state-piece')
    const begun = ['one', 'two'].find((name) => pieces(name).length > 0)
    expect(begun).toBeUndefined()
    await peers.clock.advance(30)
    const donor = ['one', 'two'].find((name) => pieces(name).length > 0)!
    const other = donor === 'one' ? 'two' : 'one'
    await peers.clock.runUntil(peers.network.sever(donor))
    const before = pieces(donor).length
    expect(before).toBeGreaterThan(1)
    await peers.clock.runUntil(fetch.done)
    expectSame(allOf(wide, into, first!), allOf(wide, held, first!))
    // What had come is not sent again.
    const bytes = [...pieces(donor).slice(0, before), ...pieces(other)].reduce(
      (sum, { message }) => sum + message.tensors[0]!.data.byteLength,
      0,
    )
    expect(bytes).toBe(bytesOf(wide, first!))
  })

  it('come from another donor where one says nothing for a minute', async () => {
    const peers = createPeers(wide, { drop: (from) => from === 'silent' })
    const held = numbersOf(wide, all)
    for (const name of ['silent', 'two']) peers.donor(name, held)
    const into = emptyRun(wide, all)
    await peers.clock.runUntil(peers.taker('me', [all], donors('silent', 'two'), into).done)
    expectSame(allOf(wide, into, all), allOf(wide, held, all))
    expect(peers.clock.now()).toBeGreaterThanOrEqual(60_000)
    expect(peers.clock.now()).toBeLessThan(70_000)
  })

  it('come from the host where no donor is left', async () => {
    const peers = createPeers(wide)
    const held = numbersOf(wide, all)
    peers.donor('empty')
    peers.donor('host', held)
    const into = emptyRun(wide, all)
    await peers.clock.runUntil(peers.taker('me', [all], donors('empty'), into).done)
    expectSame(allOf(wide, into, all), allOf(wide, held, all))
    expect(sentBy(peers, 'host').parameters).toBe(bytesOf(wide, all))
  })

  it('are cut where nobody holds all of a parcel, also when that is so only later', async () => {
    const peers = createPeers(wide)
    peers.donor('front', { layers: [0, 10], vectors: numbersOf(wide, [0, 10], 2).vectors })
    peers.donor('back', { layers: [10, 73], vectors: numbersOf(wide, [10, 73], 3).vectors })
    const into = emptyRun(wide, all)
    const fetch = peers.taker('me', [all], donors('gone'), into)
    await peers.clock.runUntil(peers.network.sever('gone'))
    fetch.update([
      { layers: [0, 10], peers: ['front'] },
      { layers: [10, 73], peers: ['back'] },
    ])
    await peers.clock.runUntil(fetch.done)
    expectSame(allOf(wide, into, [0, 10]), allOf(wide, numbersOf(wide, [0, 10], 2), [0, 10]))
    expectSame(allOf(wide, into, [10, 73]), allOf(wide, numbersOf(wide, [10, 73], 3), [10, 73]))
  })
})

describe('numbers that are not what they should be', () => {
  const small = modelOf(1, 4)
  const run = wholeRun(small)
  const named = (...peers: string[]) => [{ layers: [run[0], run[1]] as [number, number], peers }]

  /** Other numbers at every look, and never the same again: one makes its word, another what it sends. */
  let looks = 0
  const fickle = () => ({
    layers: run,
    get vectors() {
      return numbersOf(small, run, looks++).vectors
    },
  })

  it('are fetched again from another donor when they are not what the first one said', async () => {
    const peers = createPeers(small)
    const right = numbersOf(small, run)
    const liar = peers.donor('liar')
    liar.close()
    liar.offer(of, () => fickle())
    peers.donor('two', right)
    const into = emptyRun(small, run)
    await peers.clock.runUntil(peers.taker('me', [run], named('liar', 'two'), into).done)
    expectSame(allOf(small, into, run), allOf(small, right, run))
    expect(sentBy(peers, 'two').parameters).toBe(bytesOf(small, run))
  })

  it.each(['damaged', 'too short'])('and are %s are refused, and asked of another', async (how) => {
    const peers = createPeers(small)
    const right = numbersOf(small, run)
    peers.donor('two', right)
    const into = emptyRun(small, run)
    const fetch = peers.taker('me', [run], named('one', 'two'), into)
    const whole = checksumOf(right.vectors[0]!)
    const values = allOf(small, right, run)
    const checksum = checksumOf(values)
    if (how === 'damaged') values[5]! += 1
    const sent = how === 'damaged' ? values : values.subarray(1)
    const layers: [number, number] = [run[0], run[1]]
    const header = { type: 'state-piece' as const, job, plan: 8, of, layers, offset: 0, checksum, whole }
    expect(() => {
      fetch.piece('one', { header, tensors: [floatTensor(sent)] })
    }).toThrow(BadMessageError)
    expect(allOf(small, into, run).every((value) => value === 0)).toBe(true)
    await peers.clock.runUntil(peers.network.sever('one'))
    await peers.clock.runUntil(fetch.done)
    expectSame(allOf(small, into, run), allOf(small, right, run))
  })

  it('end it when nobody has what it said', async () => {
    const peers = createPeers(small)
    const liar = peers.donor('host')
    liar.close()
    liar.offer(of, () => fickle())
    const into = emptyRun(small, run)
    await expect(peers.clock.runUntil(peers.taker('me', [run], [], into).done)).rejects.toThrow(
      'sent other numbers than they said',
    )
  })
})
