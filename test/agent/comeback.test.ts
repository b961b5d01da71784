import { beforeEach, describe, expect, it } from 'vitest'
import { Comeback } from '../../main/agent/comeback.ts'
import { InvalidInviteError, PeerLostError, RefusedError } from '../../shared/errors.ts'
import { formatInvite } from '../../shared/invite.ts'
import { hour, minute } from '../../shared/units.ts'
import { createVirtualClock } from '../fakes/clock.ts'

const invite = formatInvite({
  name: 'digits',
  publicKey: '1'.repeat(64),
  secret: '2'.repeat(32),
  // Long past: who was in comes back all the same.
  expiresAt: 1000,
  addresses: ['/ip4/192.0.2.1/tcp/4001/p2p/12D3KooWHost'],
})

const gone = () => Promise.reject(new PeerLostError('the host cannot be reached'))
/** The file of the home, which outlives agents. */
let kept: { readonly invite: string | null } | undefined
const file = {
  read: () => Promise.resolve(kept),
  write(value: { readonly invite: string | null }) {
    kept = value
    return Promise.resolve()
  },
}
beforeEach(() => {
  kept = undefined
})

function createAgent(join: () => Promise<unknown>, hostAgain = () => Promise.resolve(false)) {
  const clock = createVirtualClock()
  const tries: number[] = []
  const free = { is: true }
  const comeback = new Comeback({
    ...{ file, clock, log: () => undefined, onChange: () => undefined, hostAgain },
    isFree: () => free.is,
    join() {
      tries.push(clock.now())
      return join()
    },
  })
  return { clock, tries, comeback, free }
}

/** What an agent that was killed in the job leaves. */
async function killedInJob() {
  await createAgent(gone).comeback.remember(invite, new Promise(() => undefined))
}

describe('an agent', () => {
  it('goes back to the job that its forerunner was killed in, at once', async () => {
    await killedInJob()
    const { comeback, clock, tries } = createAgent(() => Promise.resolve())
    await clock.runUntil(comeback.begin())
    expect([tries, comeback.to]).toEqual([[0], null])
    expect(kept).toEqual({ invite })
  })

  it('has nowhere to go back to when the job ended, or was never there', async () => {
    await createAgent(gone).comeback.begin()
    const { comeback, clock, tries } = createAgent(gone)
    await comeback.remember(invite, Promise.resolve({ code: 'finished' }))
    await clock.settle()
    await comeback.begin()
    expect(tries).toEqual([])
    expect(kept).toEqual({ invite: null })
  })

  it('goes on with its own job rather than with one it had joined', async () => {
    await killedInJob()
    const { comeback, tries } = createAgent(gone, () => Promise.resolve(true))
    await comeback.begin()
    expect(tries).toEqual([])
  })

  it('asks a lost host seldomer and seldomer, says which job it wants, and gives up after half a day', async () => {
    const { comeback, clock, tries } = createAgent(gone)
    await comeback.remember(invite, Promise.resolve({ code: 'host-lost' }))
    await clock.advance(0)
    expect(comeback.to).toBe('digits')
    await clock.advance(2 * minute)
    // Every other second while the host may just have crashed, then at twice the distance each time.
    const seconds = tries.map((ms) => ms / 1000)
    expect(seconds.slice(0, 5)).toEqual([0, 1, 3, 5, 7])
    expect(seconds.filter((at) => at > 57)).toEqual([59, 61, 65, 73, 89])
    await clock.advance(13 * hour)
    expect(tries.at(-1)).toBeLessThan(12 * hour + minute)
    expect([comeback.to, kept]).toEqual([null, { invite: null }])
  })

  it('goes back when a neighbour could not be reached, and stays away when it left', async () => {
    const { comeback, clock, tries } = createAgent(gone)
    await comeback.remember(invite, Promise.resolve({ code: 'stopped' }))
    await clock.advance(minute)
    expect(tries).toEqual([])
    await comeback.remember(invite, Promise.resolve({ code: 'neighbour-lost' }))
    await clock.advance(0)
    expect(tries).toHaveLength(1)
    await comeback.end()
  })

  it('believes a host that says no', async () => {
    await killedInJob()
    const no = () => Promise.reject(new InvalidInviteError('the host removed this PC from the job'))
    const { comeback, clock, tries } = createAgent(no)
    await clock.runUntil(comeback.begin())
    expect([tries.length, kept]).toEqual([1, { invite: null }])
  })

  it('asks again whether a host that was just started knows the job by now, for a minute or so', async () => {
    const unknown = () => Promise.reject(new RefusedError('unknown-job', 'it does not host this job'))
    const answers = [gone, unknown, () => Promise.resolve()]
    await killedInJob()
    const early = createAgent(() => answers.shift()!())
    await early.clock.runUntil(early.comeback.begin())
    expect([early.tries.length, kept]).toEqual([3, { invite }])

    const ended = createAgent(unknown)
    await ended.clock.runUntil(ended.comeback.begin())
    const everyOther = Array.from({ length: 31 }, (_, index) => (2 * index + 1) * 1000)
    expect(ended.tries).toEqual([0, ...everyOther])
    expect(kept).toEqual({ invite: null })
  })

  it('waits while something else stands at the door, and stops for another job', async () => {
    await killedInJob()
    const { comeback, clock, tries, free } = createAgent(gone)
    free.is = false
    const back = comeback.begin()
    await clock.advance(minute)
    expect(tries).toEqual([])
    free.is = true
    await clock.advance(2 * minute)
    expect(tries.length).toBeGreaterThan(0)
    await comeback.forget()
    await back
    expect([comeback.to, kept]).toEqual([null, { invite: null }])
  })

  it('leaves the way back to the next one when it ends', async () => {
    const ended = Promise.withResolvers<{ readonly code: string }>()
    const { comeback, clock } = createAgent(gone)
    await comeback.remember(invite, ended.promise)
    await comeback.end()
    ended.resolve({ code: 'stopped' })
    await clock.settle()
    expect(kept).toEqual({ invite })
  })
})
