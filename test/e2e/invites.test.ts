import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatInvite, parseInvite } from '../../shared/invite.ts'
import { hour } from '../../shared/units.ts'
import { createFleet, digitsJob, type Peer } from './fleet.ts'

const fleet = createFleet()
let host: Peer
let friend: Peer
let invite: string

/** The invite with other contents, whole again. */
const forged = (changes: Partial<Parameters<typeof formatInvite>[0]>): string =>
  formatInvite({ ...parseInvite(invite, 0), ...changes })

beforeAll(async () => {
  ;[host, friend] = await Promise.all([fleet.start('host'), fleet.start('friend')])
  invite = (await host.client.command('host', { job: digitsJob() })).invite
})
afterAll(() => fleet.end())

/** The refusal, after which the friend is as before and the host alone. */
async function refusalOf(link: string): Promise<{ readonly code: string; readonly message: string }> {
  const refused = await friend.client.command('join', { invite: link }).then(
    () => undefined,
    (error: unknown) => error as { readonly code: string; readonly message: string },
  )
  expect((await friend.client.command('status', {})).job).toBeNull()
  return { code: refused!.code, message: refused!.message }
}

describe('an invite', () => {
  it.each([
    ['https://example.org', /^this is not an invite: ask the host for a link that begins with/],
    ['rookery://join/', /^this invite is damaged: copy the whole link again/],
  ])('that is none, like %s, is refused', async (link, message) => {
    expect(await refusalOf(link)).toEqual({
      code: 'invalid-invite',
      message: expect.stringMatching(message) as string,
    })
  })

  it('that lost characters, or has one changed, is refused', async () => {
    const middle = invite.length >> 1
    const other = invite[middle] === 'A' ? 'B' : 'A'
    const changed = invite.slice(0, middle) + other + invite.slice(middle + 1)
    for (const link of [invite.slice(0, -5), changed])
      expect((await refusalOf(link)).message).toBe(
        'this invite is damaged: copy the whole link again, from the first to the last character',
      )
  })

  it('whose time is over is refused', async () => {
    const message = 'this invite has expired: ask the host for a new one'
    expect(await refusalOf(forged({ expiresAt: Date.now() - 1 }))).toEqual({
      code: 'invalid-invite',
      message,
    })
  })

  it('with a wrong secret is refused by the host', async () => {
    expect(await refusalOf(forged({ secret: '0'.repeat(32) }))).toEqual({
      code: 'invalid-invite',
      message: 'the host does not know this invite; ask for a new one',
    })
  })

  it('to a job that the host does not host is refused', async () => {
    expect(await refusalOf(forged({ publicKey: '0'.repeat(64) }))).toEqual({
      code: 'unknown-job',
      message: 'that computer does not host this job, or no more: ask for a new invite',
    })
  })

  it('of one’s own is refused, and of a host that has gone', async () => {
    const guest = await fleet.start('guest')
    const own = await guest.client.command('host', { job: digitsJob() })
    await guest.client.command('leave', {})
    await expect(guest.client.command('join', { invite: own.invite })).rejects.toMatchObject({
      code: 'invalid-invite',
      message: 'this is your own invite; give it to a friend',
    })
    await guest.shutDown()
    expect(await refusalOf(own.invite)).toEqual({
      code: 'peer-lost',
      message: 'the host cannot be reached; is its PC on, and are you both online?',
    })
  })

  it('opens the door as it is, after all of this', async () => {
    const { members } = (await host.client.command('status', {})).job!
    expect(members.map(({ displayName }) => displayName)).toEqual(['host'])
    await friend.client.command('join', { invite })
    const { members: now } = await host.until('the friend', (job) => job.members.length === 2)
    expect(now.map(({ displayName, state }) => [displayName, state])).toEqual([
      ['host', 'joined'],
      ['friend', 'joined'],
    ])
  })

  it('is refused by the host’s clock, too', async () => {
    await host.client.command('leave', {})
    expect(await friend.until('the end', ({ result }) => result !== null)).toMatchObject({
      result: { outcome: 'stopped', reason: 'the host stopped the job' },
    })
    // A time that is no whole number of milliseconds, and over at once.
    const { gathering } = digitsJob()
    const brief = digitsJob({ gathering: { ...gathering, inviteHours: 1e-7 } })
    invite = (await host.client.command('host', { job: brief })).invite
    const link = forged({ expiresAt: Date.now() + hour })
    await expect(friend.client.command('join', { invite: link })).rejects.toMatchObject({
      code: 'invalid-invite',
      message: 'this invite has expired; ask the host for a new one',
    })
  })
})
