import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { afterAll, describe, expect, it } from 'vitest'
import { formatInvite, parseInvite } from '../../shared/invite.ts'
import { createFleet, digitsJob, gatherPool, type Peer } from './fleet.ts'

const fleet = createFleet()
afterAll(() => fleet.end())

/** A port where nobody listens. */
async function deadPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Join and leave again: from then on the two know each other. */
async function meet(host: Peer, guest: Peer, invite: string): Promise<void> {
  await guest.client.command('join', { invite })
  await guest.client.command('leave', {})
  await host.until(`the end of ${guest.name}`, ({ members }) =>
    members.some(({ displayName, state }) => displayName === guest.name && state === 'lost'),
  )
}

/** Until a peer keeps the record of a new job, the directory knows nothing of it: try again, as a person would. */
async function joinAtLast(guest: Peer, invite: string): Promise<string> {
  for (;;) {
    try {
      return (await guest.client.command('join', { invite })).job
    } catch (error) {
      expect(error).toMatchObject({ code: 'peer-lost' })
    }
  }
}

describe('an invite whose addresses are no longer true', () => {
  it('still finds the host, through a peer that both have met', async () => {
    const peers = await Promise.all(['known', 'host', 'guest'].map((name) => fleet.start(name)))
    const [known, host, guest] = peers as [Peer, Peer, Peer]
    const { invite } = await gatherPool(known, [], digitsJob({ name: 'a reason to meet' }))
    await meet(known, guest, invite)
    await meet(known, host, invite)

    const { job, invite: fresh } = await gatherPool(host, [], digitsJob())
    const told = parseInvite(fresh, Date.now())
    const moved = `/ip4/127.0.0.1/tcp/${await deadPort()}/p2p/${told.host}`
    expect(await joinAtLast(guest, formatInvite({ ...told, addresses: [moved] }))).toBe(job)
    const { members } = await host.until('the guest', (view) => view.members.length === 2)
    expect(members.map(({ displayName }) => displayName)).toEqual(['host', 'guest'])
  })
})
