/** Fetching a native package of TensorFlow.js without its install script, and taking it away again. */
import { type SpawnSyncOptions, spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { InvalidInputError } from '../../../../../shared/errors.ts'
import { probeBackend } from '../probe.ts'

export type Flavour = 'node' | 'node-gpu'

const root = join(import.meta.dirname, '../../../../..')
const require = createRequire(import.meta.url)

export const folderOf = (flavour: Flavour): string =>
  join(root, 'node_modules/@tensorflow', `tfjs-${flavour}`)

/**
 * Put a package into node_modules, of the version of the TensorFlow.js that is there, without changing what
 * package.json asks for: the next `npm ci` or `npm install` takes it away.
 *
 * @throws InvalidInputError when npm does not get it
 */
export function fetchPackage(flavour: Flavour): void {
  const { version } = require('@tensorflow/tfjs/package.json') as { readonly version: string }
  npm(['install', '--no-save', '--ignore-scripts', `@tensorflow/tfjs-${flavour}@${version}`])
}

/** Take away what package.json does not ask for. */
export function removeFetched(): void {
  npm(['prune', '--ignore-scripts'])
}

/** The npm that started this script, or the one on the path. */
function npm(given: readonly [string, ...string[]]): void {
  const rest = [...given, '--no-audit', '--no-fund', '--loglevel=error']
  const script = process.env['npm_execpath']
  const options: SpawnSyncOptions = { cwd: root, stdio: ['ignore', 2, 2] }
  const { status } =
    script === undefined
      ? // npm is a script of the shell on Windows.
        spawnSync('npm', rest, { ...options, shell: process.platform === 'win32' })
      : spawnSync(process.execPath, [script, ...rest], options)
  if (status !== 0) throw new InvalidInputError(`npm ${given[0]} did not succeed; its message is above`)
}

/** Whether the backend opens now. @throws InvalidInputError with the reason why not */
export async function requireLoaded(flavour: Flavour): Promise<void> {
  const { loaded, reason } = await probeBackend(flavour)
  if (!loaded) throw new InvalidInputError(`the backend ${flavour} still does not open: ${reason}`)
}

/** Run a script's work; what it throws becomes one sentence and an exit code. */
export async function runScript(work: () => Promise<void>): Promise<never> {
  try {
    await work()
    process.exit(0)
  } catch (thrown) {
    process.stderr.write(`${(thrown as Error).message}\n`)
    process.exit(thrown instanceof InvalidInputError ? 2 : 1)
  }
}
