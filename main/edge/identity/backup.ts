/** An identity's way out of its home folder, and back in. */
import { copyFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { InvalidInputError } from '../../../shared/errors.ts'
import type { PeerId } from '../../../shared/ids.ts'
import { readIdentityText } from './identity.ts'

const fileName = 'rookery-identity.json'

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true
}

async function write(file: string, text: string): Promise<void> {
  try {
    await writeFileAtomic(file, text, { mode: 0o600 })
  } catch (error) {
    throw new InvalidInputError(
      `"${file}" cannot be written: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

/**
 * Copy an identity: whoever holds the copy can be this peer.
 *
 * @param to - a file, or a folder to put it in
 * @returns the copy
 * @throws InvalidInputError
 */
export async function backUpIdentity(path: string, to: string): Promise<string> {
  const { text } = await readIdentityText(path)
  const file = (await isFolder(to)) ? join(resolve(to), fileName) : resolve(to)
  await write(file, text)
  return file
}

/**
 * Put a copy in place of the identity; the one before stays beside it as `<name>.previous`.
 *
 * @returns the peer that this PC is from the next start on
 * @throws InvalidInputError when the copy is no identity, and then nothing has changed
 */
export async function restoreIdentity(path: string, from: string): Promise<PeerId> {
  const file = (await isFolder(from)) ? join(resolve(from), fileName) : resolve(from)
  const { text, identity } = await readIdentityText(file)
  await copyFile(path, `${path}.previous`).catch(() => undefined)
  await write(path, text)
  return identity.peer
}
