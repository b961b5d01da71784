/** The folder where an agent keeps everything, and the lock that gives it to one agent at a time. */
import { constants } from 'node:fs'
import { access, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import envPaths from 'env-paths'
import { lock } from 'proper-lockfile'
import { AlreadyInUseError, InvalidInputError } from '../../../shared/errors.ts'
import { type Millis, second } from '../../../shared/units.ts'
import { hasCode } from './files.ts'

/** The home folder's absolute path; made, for this user only, when it is missing. @throws InvalidInputError */
export async function openHome(path?: string): Promise<string> {
  const fromEnvironment = process.env['ROOKERY_HOME']
  const chosen = path ?? (fromEnvironment === '' ? undefined : fromEnvironment)
  const home = resolve(chosen ?? envPaths('rookery', { suffix: '' }).data)
  try {
    await mkdir(home, { recursive: true, mode: 0o700 })
    await access(home, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (thrown) {
    if (!hasCode(thrown, 'EACCES', 'EPERM', 'EEXIST', 'ENOTDIR', 'EROFS', 'ENOENT')) throw thrown
    throw new InvalidInputError(`"${home}" cannot be the home folder: choose a folder that you may write to`)
  }
  return home
}

/** An agent that lives renews its lock each second; one that does not for so long lost it. */
const staleAfter: Millis = 4 * second
/** Longer than the lock of an agent that was killed stays. */
const patience: Millis = 2 * staleAfter
const retryEvery: Millis = second / 4
/** A lock older than this belongs to an earlier start of the machine: whatever bears its process id now is another. */
const oldAge: Millis = 30 * second

export interface HomeLock {
  release(): Promise<void>
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (thrown) {
    return hasCode(thrown, 'EPERM')
  }
}

/** Process id of the agent that holds the lock, as far as it is alive. */
async function liveHolder(lockPath: string, pidPath: string): Promise<number | undefined> {
  try {
    const { mtimeMs } = await stat(lockPath)
    const pid = Number(await readFile(pidPath, 'utf8'))
    return Date.now() - mtimeMs < oldAge && Number.isInteger(pid) && pid > 0 && isAlive(pid) ? pid : undefined
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT')) return undefined
    throw thrown
  }
}

/**
 * Take a home for this process. The lock of a killed agent is taken over after a few seconds.
 *
 * @param settings.onLost - another agent took the home from us, because we stood still for too long
 * @throws AlreadyInUseError when another agent lives there
 */
export async function lockHome(
  home: string,
  settings: { readonly onLost?: () => void } = {},
): Promise<HomeLock> {
  const lockPath = join(home, 'agent.lock')
  const pidPath = join(home, 'agent.pid')
  const options = {
    lockfilePath: lockPath,
    stale: staleAfter,
    update: second,
    onCompromised: () => settings.onLost?.(),
  }
  const inUse = (pid: number | undefined) =>
    new AlreadyInUseError(
      `another agent${pid === undefined ? '' : ` (process ${pid})`} already runs on "${home}": ` +
        'stop it or give this one another home folder',
    )
  for (const until = Date.now() + patience; ;) {
    const holder = await liveHolder(lockPath, pidPath)
    if (holder !== undefined) throw inUse(holder)
    try {
      const unlock = await lock(home, options)
      await writeFile(pidPath, String(process.pid), { mode: 0o600 })
      return {
        release: async () => {
          await rm(pidPath, { force: true })
          await unlock()
        },
      }
    } catch (thrown) {
      if (!hasCode(thrown, 'ELOCKED')) throw thrown
      if (Date.now() > until) throw inUse(undefined)
    }
    await setTimeout(retryEvery)
  }
}
