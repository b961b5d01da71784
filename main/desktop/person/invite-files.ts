/** An invite as a file: its link and nothing else. Opening it is opening the link: it is shown, and the person is asked. */
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Millis } from '../../../shared/units.ts'
import { type ReadLink, readLink } from './invite-links.ts'

const extension = '.rookery-invite'
/** A link is never longer, see `parseInvite`; a line break may follow it. */
const mostBytes = 4096 + 2

/**
 * Where the first such file among a program's arguments is. A desktop may name files by `file:` URLs.
 *
 * @param folder - what paths that are not absolute start from
 */
export function inviteFileAmong(argv: readonly string[], folder: string): string | undefined {
  const named = argv.find(
    (argument) => argument.toLowerCase().endsWith(extension) && !argument.startsWith('-'),
  )
  if (!named?.startsWith('file:')) return named && resolve(folder, named)
  try {
    return fileURLToPath(named)
  } catch {
    return undefined
  }
}

/** What the file of a job's invite is called: no letter that a file system minds. */
export const inviteFileName = (job: string): string =>
  `${
    job
      .replaceAll(/[^\p{L}\p{N}_-]+/gu, ' ')
      .trim()
      .slice(0, 60) || 'job'
  }${extension}`

/** Never more than a link's length of it is read. */
export async function readInviteFile(path: string, nowMs: Millis): Promise<ReadLink> {
  try {
    const file = await open(path)
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(mostBytes + 1), 0, mostBytes + 1, 0)
      // What is longer is no invite, whatever it begins with.
      return readLink(bytesRead > mostBytes ? '' : buffer.toString('utf8', 0, bytesRead), nowMs)
    } finally {
      await file.close()
    }
  } catch {
    return { type: 'refused', sentence: `the file ${path} cannot be read; ask the host for the link instead` }
  }
}
