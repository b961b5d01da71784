/** Electron's order of start: the browser is up, then what `-r` asks for, then the app's main, then `ready`. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire, registerHooks } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { extractAll } from '@electron/asar'
import { app } from './app.ts'
import { startChromium } from './chromium.ts'
import './electron.ts'
import { BrowserWindow, followTargets } from './window.ts'

/** Electron's own arguments, apart from those that the app sees. */
function splitArguments(given: readonly string[]): { required: string[]; rest: string[] } {
  const required: string[] = []
  const rest: string[] = []
  for (let index = 0; index < given.length; index++) {
    if (given[index] === '-r') required.push(given[++index] ?? '')
    else rest.push(given[index] ?? '')
  }
  return { required, rest }
}

/** Electron reads files inside an archive as if it were a folder; Node needs the folder. */
function unpack(archive: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'rookery-standin-app-'))
  extractAll(archive, folder)
  process.on('exit', () => {
    rmSync(folder, { recursive: true, force: true })
  })
  return folder
}

const { required, rest } = splitArguments(process.argv.slice(2))
/** Set by the executable of a package, which holds the app in its resources. */
const resources = process.env['STANDIN_RESOURCES']
const appPath =
  resources === undefined
    ? resolve(rest.find((argument) => !argument.startsWith('-')) ?? '.')
    : unpack(join(resources, 'app.asar'))

process.argv = [join(import.meta.dirname, 'electron'), ...rest]
Object.assign(process, {
  type: 'browser',
  resourcesPath: resources ?? join(import.meta.dirname, 'resources'),
})
Object.assign(process.versions, { electron: '45.5.0-standin' })

const module = pathToFileURL(join(import.meta.dirname, 'electron.ts')).href
registerHooks({
  resolve: (name, context, next) =>
    name === 'electron'
      ? { url: module, format: 'module-typescript', shortCircuit: true }
      : next(name, context),
})

const manifest = JSON.parse(readFileSync(join(appPath, 'package.json'), 'utf8')) as {
  name: string
  version: string
  main: string
}
app.prepare(manifest, resources !== undefined, { windows: () => BrowserWindow.getAllWindows() })
const address = await startChromium()
followTargets()
for (const file of required) createRequire(import.meta.url)(file)
// Playwright waits for this line, and then expects its own file of `-r` to be there.
process.stderr.write(`DevTools listening on ${address}\n`)
await import(pathToFileURL(join(appPath, manifest.main)).href)
app.becomeReady()
