/** Who this agent is in the swarm: one Ed25519 key, made once and kept in the home folder. */
import { copyFile, readFile, mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { generateKeyPair, privateKeyFromProtobuf, privateKeyToProtobuf } from '@libp2p/crypto/keys'
import type { PrivateKey } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import writeFileAtomic from 'write-file-atomic'
import { z } from 'zod'
import { InvalidInputError } from '../../../shared/errors.ts'
import type { PeerId } from '../../../shared/ids.ts'

export interface Identity {
  readonly peer: PeerId
  /** For the swarm's handshakes; goes nowhere else. */
  readonly privateKey: PrivateKey
}

const identityFile = z.strictObject({ version: z.literal(1), privateKey: z.base64().max(200) })

const identityOf = (privateKey: PrivateKey): Identity => ({
  peer: peerIdFromPrivateKey(privateKey).toString(),
  privateKey,
})

/** An identity that is forgotten with the process: for a demo, for a test. */
export async function createIdentity(): Promise<Identity> {
  return identityOf(await generateKeyPair('Ed25519'))
}

function parseIdentity(text: string, path: string): Identity {
  try {
    const { privateKey } = identityFile.parse(JSON.parse(text))
    const key = privateKeyFromProtobuf(Buffer.from(privateKey, 'base64'))
    if (key.type === 'Ed25519') return identityOf(key)
  } catch {
    // Not JSON, not our shape, not a key: one sentence for all of them.
  }
  throw new InvalidInputError(
    `the identity file ${path} is damaged: restore it from a backup, or move it away to become a new peer`,
  )
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new InvalidInputError(`the identity file ${path} cannot be read: ${String(error)}`)
  }
}

/** An identity that is there, and the text of its file. @throws InvalidInputError when it is missing or damaged */
export async function readIdentityText(
  path: string,
): Promise<{ readonly text: string; readonly identity: Identity }> {
  const text = await readIfThere(path)
  if (text === undefined) throw new InvalidInputError(`there is no identity file ${path}`)
  return { text, identity: parseIdentity(text, path) }
}

/**
 * The identity kept in a file, made at the first call. Only the user can read the file. What is there already is
 * never overwritten.
 *
 * @throws InvalidInputError when the file is damaged or unreadable
 */
export async function openIdentity(path: string): Promise<Identity> {
  const text = await readIfThere(path)
  if (text !== undefined) return parseIdentity(text, path)
  return keepNew(path)
}

async function keepNew(path: string): Promise<Identity> {
  const identity = await createIdentity()
  const privateKey = Buffer.from(privateKeyToProtobuf(identity.privateKey)).toString('base64')
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeFileAtomic(path, `${JSON.stringify({ version: 1, privateKey })}\n`, { mode: 0o600 })
  return identity
}

/**
 * Become a new peer, from the next start on; the identity before stays beside it as `<name>.previous`. Nothing happens
 * where `before` was replaced already.
 *
 * @throws InvalidInputError when the file is damaged or unreadable
 */
export async function replaceIdentity(path: string, before: PeerId): Promise<void> {
  const { identity } = await readIdentityText(path)
  if (identity.peer !== before) return
  await copyFile(path, `${path}.previous`)
  await keepNew(path)
}
