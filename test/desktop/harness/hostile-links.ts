/** Links that are no invite of ours, each wrong in its own way: cut, changed, foreign, endless, or made to do harm. */
import { formatInvite } from '../../../shared/invite.ts'
import { seedFrom } from '../../../shared/random.ts'

export const host = '12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN'
const other = '12D3KooWQYhTNQdmr3ArTeUHRYzFg94BKyTkoWBDWez9kSCVe2Xo'
const scheme = 'rookery://join/'
const at = `/ip4/192.168.1.7/tcp/4001/p2p/${host}`

export const inviteFields = {
  name: 'digits',
  publicKey: '0f'.repeat(32),
  secret: 'a1'.repeat(16),
  expiresAt: Number.MAX_SAFE_INTEGER,
  addresses: [at],
}
export const goodLink = formatInvite(inviteFields)

/** A link around any text, with a check that fits, so that only its content is at fault. */
function linkOf(content: unknown): string {
  const json = typeof content === 'string' ? content : JSON.stringify(content)
  return scheme + Buffer.from(seedFrom(json).toString(16).padStart(8, '0') + json).toString('base64url')
}

const payload = {
  v: 1,
  name: 'digits',
  key: inviteFields.publicKey,
  secret: inviteFields.secret,
  expires: inviteFields.expiresAt,
  at: [at],
}
const changed = (change: object): string => linkOf({ ...payload, ...change })
const without = (field: keyof typeof payload): string =>
  linkOf(Object.fromEntries(Object.entries(payload).filter(([name]) => name !== field)))

const flipped = (index: number): string => {
  const letter = goodLink[index] === 'A' ? 'B' : 'A'
  return goodLink.slice(0, index) + letter + goodLink.slice(index + 1)
}

export const hostileLinks: readonly string[] = [
  // Not a link of ours at all.
  '',
  ' ',
  'rookery',
  'rookery:',
  'rookery://',
  'rookery://join',
  'rookery://leave/abc',
  'rookery:join/abc',
  'ROOKERY://JOIN/abc',
  'https://example.org/join/abc',
  'javascript:alert(1)',
  'file:///etc/passwd',
  'data:text/html,<script>alert(1)</script>',
  '<script>alert(1)</script>',
  'rookery://join@evil.example/abc',
  'rookery://evil.example/join/abc',
  `x${goodLink}`,
  `--no-sandbox ${goodLink}`,
  // Ours by its beginning, but damaged.
  scheme,
  `${scheme}abc`,
  `${scheme}%00`,
  `${scheme}../../../etc/passwd`,
  `${scheme}?next=https://evil.example`,
  `${scheme}${'A'.repeat(5000)}`,
  `${scheme}${'é'.repeat(40)}`,
  goodLink.slice(0, -1),
  goodLink.slice(0, 60),
  flipped(20),
  flipped(Math.floor(goodLink.length / 2)),
  flipped(goodLink.length - 3),
  `${goodLink}A`,
  `${goodLink}#fragment`,
  goodLink.replace(scheme, `${scheme}${scheme}`),
  // Whole, but with a content that no host writes.
  linkOf('null'),
  linkOf('[]'),
  linkOf('{'),
  linkOf('{"__proto__":{"admin":true}}'),
  changed({ v: 2 }),
  changed({ name: '' }),
  changed({ name: 'x'.repeat(81) }),
  changed({ key: 'zz'.repeat(32) }),
  changed({ secret: 'a1' }),
  changed({ expires: 1 }),
  changed({ expires: -1 }),
  changed({ at: [] }),
  changed({ at: ['/ip4/192.168.1.7/tcp/4001'] }),
  changed({ at: [at, at.replace(host, other)] }),
  changed({ at: Array.from({ length: 17 }, () => at) }),
  changed({ run: 'rm -rf /' }),
  without('secret'),
]
