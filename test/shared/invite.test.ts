/** An invite comes back whole or with the one sentence that says what is wrong with it. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InvalidInviteError } from '../../shared/errors.ts'
import { formatInvite, parseInvite, type Invite } from '../../shared/invite.ts'

const host = '12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN'
const addressOf = (port: number): string => `/ip4/192.168.1.7/tcp/${port}/p2p/${host}`
const invite: Invite = {
  name: 'Ein Modell für Rübezahl 🐦',
  publicKey: '0f'.repeat(32),
  secret: 'a1'.repeat(16),
  expiresAt: 2_000,
  addresses: [addressOf(4001), `/ip4/10.0.0.1/tcp/4001/p2p/12D3KooWRelay/p2p-circuit/p2p/${host}`],
}

describe('an invite', () => {
  it('comes back as it was, with the host that its addresses name', () => {
    expect(parseInvite(`  ${formatInvite(invite)}\n`, 1_999)).toEqual({ ...invite, host })
  })

  it('is a link that survives mail, chat and the command line', () => {
    expect(formatInvite(invite)).toMatch(/^rookery:\/\/join\/[0-9A-Za-z_-]+$/)
  })

  it('takes as many addresses as fit, the first ones', () => {
    const long = Array.from({ length: 40 }, (_, at) => `/dns4/${'x'.repeat(200)}/tcp/${at}/p2p/${host}`)
    const link = formatInvite({ ...invite, addresses: long })
    expect(link.length).toBeLessThanOrEqual(4096)
    const { addresses } = parseInvite(link, 0)
    expect(addresses.length).toBeGreaterThan(5)
    expect(addresses).toEqual(long.slice(0, addresses.length))
  })

  it.each([
    ['expired', formatInvite(invite), 2_000, 'this invite has expired: ask the host for a new one'],
    ['nothing', '', 0, 'this is not an invite: ask the host for a link that begins with rookery://join/'],
    ['a web page', 'https://example.org/join/abc', 0, 'this is not an invite'],
    ['endless', `rookery://join/${'A'.repeat(5000)}`, 0, 'this is not an invite'],
    ['without content', 'rookery://join/', 0, 'this invite is damaged: copy the whole link again'],
    ['not base64', 'rookery://join/$$$$', 0, 'this invite is damaged'],
  ])('that is %s is refused with a sentence', (_, text, now, sentence) => {
    expect(() => parseInvite(text, now)).toThrow(InvalidInviteError)
    expect(() => parseInvite(text, now)).toThrow(sentence)
  })

  it('that lost or changed any character is damaged', () => {
    const link = formatInvite(invite)
    const start = 'rookery://join/'.length
    fc.assert(
      fc.property(
        fc.integer({ min: start, max: link.length - 2 }),
        fc.constantFrom('', 'A', 'z', '_'),
        (at, other) => {
          fc.pre(link[at] !== other)
          const changed = link.slice(0, at) + other + link.slice(at + 1)
          expect(() => parseInvite(changed, 0)).toThrow('this invite is damaged')
        },
      ),
    )
  })

  it('whose addresses lead to two hosts is damaged', () => {
    const other = `/ip4/10.0.0.1/tcp/1/p2p/12D3KooWOther`
    const link = formatInvite({ ...invite, addresses: [addressOf(1), other] })
    expect(() => parseInvite(link, 0)).toThrow('this invite is damaged')
  })

  it('is not made without an address', () => {
    expect(() => formatInvite({ ...invite, addresses: [] })).toThrow(InvalidInviteError)
  })
})
