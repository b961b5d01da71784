/** How people and agents find a job: the invite that a host hands out, and the signed record in the directory. */
import { z } from 'zod'
import { InvalidInviteError } from './errors.ts'
import { jobId, peerId, type PeerId } from './ids.ts'
import { seedFrom } from './random.ts'
import type { Millis } from './units.ts'

const scheme = 'rookery://join/'
/** Longer than any that `formatInvite` makes. */
const maxCharacters = 4096
const maxAddresses = 16
/** Payload characters: FNV-1a of the JSON text, in hex, so that a lost or changed character is noticed. */
const checkCharacters = 8

const address = z.string().regex(/\/p2p\/[0-9A-Za-z]{1,128}$/)
const publicKey = z.string().regex(/^[0-9a-f]{64}$/)
const time = z.int().min(0).max(Number.MAX_SAFE_INTEGER)

const payload = z.strictObject({
  v: z.literal(1),
  name: z.string().min(1).max(80),
  key: publicKey,
  secret: z.string().regex(/^[0-9a-f]{32}$/),
  expires: time,
  at: z.array(address.max(512)).min(1).max(maxAddresses),
})

/** Everything a friend needs to join. */
export interface Invite {
  readonly name: string
  /** The job's Ed25519 key, hex; the job's id is its sha256. */
  readonly publicKey: string
  /** 16 random bytes, hex. The host admits who knows them. */
  readonly secret: string
  /** Milliseconds since 1970. */
  readonly expiresAt: Millis
  /** Multiaddresses of the host, each ending with `/p2p/` and its peer id; best first. */
  readonly addresses: readonly string[]
}

/** Where a job's host is, signed with the job's key; kept in the swarm's directory under the job's id. */
export const jobRecord = z.strictObject({
  job: jobId,
  publicKey,
  name: z.string().max(80),
  host: peerId,
  addresses: z.array(z.string().max(512)).max(32),
  /** Grows with every new record of a job; the highest counts. */
  sequence: time,
  /** Ed25519, hex. */
  signature: z.string().regex(/^[0-9a-f]{128}$/),
})
export type JobRecord = z.infer<typeof jobRecord>

const toBase64Url = (text: string): string => {
  const bytes = Array.from(new TextEncoder().encode(text), (byte) => String.fromCodePoint(byte))
  return btoa(bytes.join('')).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

function fromBase64Url(text: string): string {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  const bytes = Uint8Array.from(binary, (character) => character.codePointAt(0) ?? 0)
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
}

const checkOf = (json: string): string => seedFrom(json).toString(16).padStart(checkCharacters, '0')

function writeLink(invite: Invite, addresses: readonly string[]): string {
  const { name, publicKey: key, secret, expiresAt: expires } = invite
  const parsed = payload.safeParse({ v: 1, name, key, secret, expires, at: addresses })
  if (!parsed.success)
    throw new InvalidInviteError(
      'no invite can be made while this computer has no address that others could reach',
    )
  const json = JSON.stringify(parsed.data)
  return scheme + toBase64Url(checkOf(json) + json)
}

/**
 * The invite as a link. It takes as many addresses, best first, as fit.
 *
 * @throws InvalidInviteError when there is no address or a field is not what its type says
 */
export function formatInvite(invite: Invite): string {
  for (let count = Math.min(maxAddresses, invite.addresses.length); count > 1; count--) {
    const link = writeLink(invite, invite.addresses.slice(0, count))
    if (link.length <= maxCharacters) return link
  }
  return writeLink(invite, invite.addresses.slice(0, 1))
}

function readPayload(text: string): z.infer<typeof payload> | undefined {
  try {
    const plain = fromBase64Url(text)
    const json = plain.slice(checkCharacters)
    return plain.slice(0, checkCharacters) === checkOf(json) ? payload.parse(JSON.parse(json)) : undefined
  } catch {
    return undefined
  }
}

const hostOf = (multiaddress: string): PeerId => multiaddress.slice(multiaddress.lastIndexOf('/') + 1)

/**
 * Read a link that a person pasted.
 *
 * @returns the invite and the host's peer id, which every address names
 * @throws InvalidInviteError: it is no invite, it is damaged, or it has expired
 */
export function parseInvite(text: string, nowMs: Millis): Invite & { readonly host: PeerId } {
  const link = text.trim()
  if (!link.startsWith(scheme) || link.length > maxCharacters)
    throw new InvalidInviteError(`this is not an invite: ask the host for a link that begins with ${scheme}`)
  const read = readPayload(link.slice(scheme.length))
  const host = hostOf(read?.at[0] ?? '')
  if (read === undefined || read.at.some((entry) => hostOf(entry) !== host))
    throw new InvalidInviteError(
      'this invite is damaged: copy the whole link again, from the first to the last character',
    )
  if (read.expires <= nowMs)
    throw new InvalidInviteError('this invite has expired: ask the host for a new one')
  const { name, key, secret, expires, at } = read
  return { name, publicKey: key, secret, expiresAt: expires, addresses: at, host }
}
