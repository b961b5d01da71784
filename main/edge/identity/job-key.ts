/** The key of a job: whoever holds it is the host, and its hash is the job's id. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from 'node:crypto'
import { InvariantError } from '../../../shared/errors.ts'
import type { JobId } from '../../../shared/ids.ts'

export interface JobKey {
  /** Ed25519, 32 bytes in hex. */
  readonly publicKey: string
  readonly jobId: JobId
  /** 32 bytes in hex: whoever knows them can speak for the job. */
  readonly privateKey: string
  /** @returns the signature of the text's UTF-8 bytes, hex */
  sign(text: string): string
}

/** A new job's key, or the one whose private part was kept. @throws InvariantError for a private part that is none */
export function createJobKey(kept?: string): JobKey {
  const privateKey = kept === undefined ? generateKeyPairSync('ed25519').privateKey : privateKeyOf(kept)
  const { x, d } = privateKey.export({ format: 'jwk' })
  if (x === undefined || d === undefined) throw new InvariantError('an Ed25519 key lacks a part')
  const publicKey = Buffer.from(x, 'base64url').toString('hex')
  return {
    publicKey,
    jobId: jobIdOf(publicKey),
    privateKey: Buffer.from(d, 'base64url').toString('hex'),
    sign: (text) => sign(null, Buffer.from(text), privateKey).toString('hex'),
  }
}

/** PKCS #8 (RFC 8410): these bytes, then the 32 of the key. */
const pkcs8Head = '302e020100300506032b657004220420'

function privateKeyOf(hex: string): KeyObject {
  try {
    return createPrivateKey({ key: Buffer.from(pkcs8Head + hex, 'hex'), format: 'der', type: 'pkcs8' })
  } catch {
    throw new InvariantError('the kept key of a job is none')
  }
}

/** sha256 of the public key's bytes, hex. */
export function jobIdOf(publicKey: string): JobId {
  return createHash('sha256').update(Buffer.from(publicKey, 'hex')).digest('hex')
}

/** Whether the key signed the text. False, never an error, for keys and signatures that are none. */
export function verifySignature(publicKey: string, text: string, signature: string): boolean {
  try {
    const x = Buffer.from(publicKey, 'hex').toString('base64url')
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
    return verify(null, Buffer.from(text), key, Buffer.from(signature, 'hex'))
  } catch {
    return false
  }
}

/** The secret of an invite: 16 random bytes, hex. */
export function createInviteSecret(): string {
  return randomBytes(16).toString('hex')
}
