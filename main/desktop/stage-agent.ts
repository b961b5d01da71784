/**
 * Gathers the agent as it is shipped: sources, libraries of production, sample data, and the Node that runs it.
 * electron-builder calls this for each folder it has packed. Plain Node cannot read an asar, so all of it lies
 * beside; and as an extra resource electron-builder would leave every `node_modules` out.
 */
import { chmod, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { basename, join, sep } from 'node:path'
import { z } from 'zod'

const root = join(import.meta.dirname, '../..')

const lockfile = z.object({
  packages: z.record(
    z.string(),
    z.object({ dev: z.boolean().optional(), devOptional: z.boolean().optional() }),
  ),
})

/** Packages of the runtime, one a platform; only that of this machine is installed. */
const isRuntime = (path: string): boolean => /^node_modules\/node-(bin|linux|darwin|win)/.test(path)

/** Folders of the libraries that run in production, as the lock file knows them. */
async function productionPackages(): Promise<string[]> {
  const lock = lockfile.parse(JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')))
  return Object.entries(lock.packages)
    .filter(([path, { dev, devOptional }]) => path !== '' && dev !== true && devOptional !== true)
    .map(([path]) => path)
    .filter(
      (path) => !isRuntime(path) && !path.includes('node_modules/@types/') && existsSync(join(root, path)),
    )
}

/** Nobody reads these at run time. */
const idle = /\.(map|d\.ts|d\.mts|d\.cts|md|markdown|tsbuildinfo)$/
/** TensorFlow.js carries itself a dozen times; Node loads one of them. */
const tensorflowNeeds = /(package\.json|LICENSE|\.node\.js|\.wasm)$/

/** WebGPU's library comes for all systems in one package, 20 MB each. */
const otherSystems = new RegExp(
  `[\\\\/]webgpu[\\\\/]dist[\\\\/](?!${process.platform}-(${process.arch}|universal))`,
)

function isShipped(source: string): boolean {
  if (otherSystems.test(source)) return false
  const name = basename(source)
  if (!name.includes('.') && name !== 'LICENSE') return true
  if (source.includes(`${sep}@tensorflow${sep}`)) return tensorflowNeeds.test(name) || !/\.\w+$/.test(name)
  return !idle.test(name)
}

async function copyPackages(staged: string): Promise<void> {
  const paths = await productionPackages()
  for (const path of paths)
    await cp(join(root, path), join(staged, path), {
      recursive: true,
      // A package inside another one is a package of its own.
      filter: (source) =>
        isShipped(source) && !source.slice(join(root, path).length).includes(`${sep}node_modules`),
    })
}

/** The Node that came with the dependencies; the person needs none. */
async function copyRuntime(staged: string): Promise<void> {
  const node = process.platform === 'win32' ? 'node.exe' : 'node'
  await mkdir(join(staged, 'runtime'), { recursive: true })
  await cp(process.execPath, join(staged, 'runtime', node), { dereference: true })
  await chmod(join(staged, 'runtime', node), 0o755)
}

/** The command line, for a shell: same agent, same home. */
const commandLine = `#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
exec "$here/runtime/node" "$here/main/cli/index.ts" "$@"
`

/** Of electron-builder's `AfterPackContext`, what is used. */
interface Packed {
  readonly appOutDir: string
  readonly packager: { getResourcesDir(appOutDir: string): string }
}

export default async function stageAgent({ appOutDir, packager }: Packed): Promise<void> {
  const staged = join(packager.getResourcesDir(appOutDir), 'agent')
  await rm(staged, { recursive: true, force: true })
  for (const room of ['agent', 'core', 'edge', 'cli'])
    await cp(join(root, 'main', room), join(staged, 'main', room), { recursive: true })
  await cp(join(root, 'shared'), join(staged, 'shared'), { recursive: true })
  for (const folder of ['models', 'samples'])
    await cp(join(root, 'resources', folder), join(staged, 'resources', folder), { recursive: true })
  for (const file of ['package.json', 'LICENSE']) await cp(join(root, file), join(staged, file))
  await copyPackages(staged)
  await copyRuntime(staged)
  if (process.platform === 'win32') return
  await writeFile(join(staged, 'rookery'), commandLine, { mode: 0o755 })
}
