/** The file by which faces of the same user find the agent and prove that they may talk to it. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { z } from 'zod'
import { AgentNotRunningError } from '../../../shared/errors.ts'

const credentials = z.strictObject({
  /** Written down, because the temporary folder may differ from one process of the user to the next. */
  socket: z.string().min(1).max(4096),
  token: z.string().min(32).max(128),
})
export type Credentials = z.infer<typeof credentials>

const fileOf = (home: string): string => join(home, 'control.json')

/** Draw a new token and leave it, readable by the user only, in the home folder. */
export async function writeCredentials(home: string, socket: string): Promise<Credentials> {
  const made = { socket, token: randomBytes(32).toString('hex') }
  await writeFileAtomic(fileOf(home), `${JSON.stringify(made)}\n`, { mode: 0o600 })
  return made
}

/** @throws AgentNotRunningError when no agent left a usable file in this home */
export async function readCredentials(home: string): Promise<Credentials> {
  try {
    return credentials.parse(JSON.parse(await readFile(fileOf(home), 'utf8')))
  } catch {
    throw new AgentNotRunningError(`no agent runs on ${home}; \`rookery agent\` starts one`)
  }
}

export async function removeCredentials(home: string): Promise<void> {
  await rm(fileOf(home), { force: true })
}

/** Compare in a time that tells nothing about where they differ. */
export function isSameToken(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(expected))
}
