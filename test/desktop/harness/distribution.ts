/** Before the specs: choose what they run on, say so, and build the app. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../../..')
const standin = join(root, 'test/desktop/standin')
/** Written by Electron's own download. */
const realBinary = join(root, 'node_modules/electron/path.txt')

/** Real Electron where its binary is, else the stand-in; `ELECTRON_OVERRIDE_DIST_PATH` decides otherwise. */
function chooseDistribution(): string {
  const chosen = process.env['ELECTRON_OVERRIDE_DIST_PATH']
  if (chosen === undefined && existsSync(realBinary)) return 'real Electron'
  process.env['ELECTRON_OVERRIDE_DIST_PATH'] = chosen ?? standin
  return (chosen ?? standin) === standin
    ? 'the stand-in (Chromium without Electron)'
    : `Electron in ${chosen ?? ''}`
}

export default function setup(): void {
  process.stdout.write(`desktop specs run on ${chooseDistribution()}\n`)
  execFileSync(process.execPath, [join(root, 'main/desktop/build.ts')], { stdio: 'inherit' })
}
