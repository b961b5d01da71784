/**
 * `npm run native:install [-- --gpu]`: fetch tfjs-node with the TensorFlow it wants, some hundred megabytes that most
 * PCs are no faster with, which is why `npm ci` does not (docs/decisions/0015).
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { parseArgs } from 'node:util'
import { InvalidInputError } from '../../../../../shared/errors.ts'
import { fetchPackage, folderOf, removeFetched, requireLoaded, runScript } from './packages.ts'

await runScript(async () => {
  const { values } = parseArgs({ options: { gpu: { type: 'boolean', default: false } } })
  const flavour = values.gpu ? 'node-gpu' : 'node'
  fetchPackage(flavour)
  const folder = folderOf(flavour)
  if (!downloadTensorflow(folder, values.gpu)) {
    removeFetched()
    throw new InvalidInputError(
      'TensorFlow could not be downloaded, nothing was left behind; ' +
        'with one on this machine, npm run native:build -- --tensorflow FOLDER takes that',
    )
  }
  putLibraryBesideAddon(folder)
  await requireLoaded(flavour)
  process.stderr.write(`${flavour} opens; rookery bench device shows it. npm ci takes it away again.\n`)
})

/** The package's own install script. */
function downloadTensorflow(folder: string, gpu: boolean): boolean {
  const tools = join(folder, '../../.bin')
  const { status } = spawnSync(
    process.execPath,
    ['scripts/install.js', ...(gpu ? ['gpu', 'download'] : [])],
    {
      cwd: folder,
      stdio: ['ignore', 2, 2],
      env: { ...process.env, PATH: [tools, process.env['PATH']].join(delimiter) },
    },
  )
  return status === 0 && addonFolders(folder).length > 0
}

/** Windows looks for tensorflow.dll beside the addon, where the package does not put it (tfjs#8545). */
function putLibraryBesideAddon(folder: string): void {
  const library = join(folder, 'deps/lib/tensorflow.dll')
  if (!existsSync(library)) return
  for (const addon of addonFolders(folder)) copyFileSync(library, join(addon, 'tensorflow.dll'))
}

function addonFolders(folder: string): string[] {
  const lib = join(folder, 'lib')
  if (!existsSync(lib)) return []
  return readdirSync(lib)
    .map((name) => join(lib, name))
    .filter((addon) => existsSync(join(addon, 'tfjs_binding.node')))
}
