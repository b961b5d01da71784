/** The key of a job: whoever holds it is the host, and its hash is the job's id. */
import { createHash, createPublicKey, generateKeyPairSync, randomBytes, sign, verify } from 'node:crypto'
import { InvariantError } from '../../../shared/errors.ts'
import type { JobId } from '../../../shared/ids.ts'

export interface JobKey {
  /** Ed25519, 32 bytes in hex. */
  readonly publicKey: string
  readonly jobId: JobId
  /** @returns the signature of the text's UTF-8 bytes, hex */
  sign(text: string): string
}

/** A new job's key. It lives as long as this process: nobody else can ever speak for the job. */
export function createJobKey(): JobKey {
  const pair = generateKeyPairSync('ed25519')
  const { x } = pair.publicKey.export({ format: 'jwk' })
  if (x === undefined) throw new InvariantError('an Ed25519 key has no public part')
  const publicKey = Buffer.from(x, 'base64url').toString('hex')
  return {
    publicKey,
    jobId: jobIdOf(publicKey),
    sign: (text) => sign(null, Buffer.from(text), pair.privateKey).toString('hex'),
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
