/** Where the agent of a home folder listens: a socket inside it, a hashed one where that path is too long, a pipe on Windows. */
import { createHash } from 'node:crypto'
import { lstat, mkdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { InvalidInputError } from '../../../shared/errors.ts'

/** `sun_path` holds 104 bytes on macOS and 108 on Linux, the closing zero included. */
const maxSocketPathBytes = 103

export interface Surroundings {
  readonly platform: NodeJS.Platform
  /** `os.tmpdir()`. */
  readonly temporaryFolder: string
  /** Numeric user id; 0 where there is none. */
  readonly user: number
}

export interface ControlAddress {
  /** What `net.listen` takes. */
  readonly path: string
  readonly kind: 'inside-home' | 'temporary' | 'pipe'
}

/** @throws InvalidInputError when no path on this machine is short enough */
export function controlAddress(home: string, around: Surroundings): ControlAddress {
  const absolute = resolve(home)
  const name = createHash('sha256').update(absolute).digest('hex').slice(0, 20)
  if (around.platform === 'win32') return { path: `\\\\.\\pipe\\rookery-${name}`, kind: 'pipe' }
  const inside = join(absolute, 'agent.sock')
  if (Buffer.byteLength(inside) <= maxSocketPathBytes) return { path: inside, kind: 'inside-home' }
  const outside = join(around.temporaryFolder, `rookery-${around.user}`, `${name}.sock`)
  if (Buffer.byteLength(outside) <= maxSocketPathBytes) return { path: outside, kind: 'temporary' }
  throw new InvalidInputError(
    `the paths of the home folder ${absolute} and of the temporary folder are too long for a socket; choose a shorter --home`,
  )
}

/**
 * Make the folder of a socket, for this user only. A temporary folder is shared with strangers, so one that
 * somebody else made in our name is refused.
 * @throws InvalidInputError
 */
export async function prepareSocketFolder(address: ControlAddress): Promise<void> {
  if (address.kind !== 'temporary') return
  const folder = dirname(address.path)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const found = await lstat(folder)
  const ours = found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0
  if (!ours) {
    throw new InvalidInputError(
      `${folder} must be a folder of yours that nobody else may open; remove it and try again`,
    )
  }
}
