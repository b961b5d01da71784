/** What the specs run on: real Electron where its binary is, else the stand-in. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../../..')
const standin = join(root, 'test/desktop/standin')
/** Written by Electron's own download. */
const realBinary = join(root, 'node_modules/electron/path.txt')
const variable = 'ELECTRON_OVERRIDE_DIST_PATH'

/** Sets the variable that Electron's package and Playwright obey, unless the caller has. @returns what it is, in words */
export function chooseDistribution(): string {
  const chosen = process.env[variable]
  if (chosen === undefined && existsSync(realBinary)) return 'real Electron'
  process.env[variable] = chosen ?? standin
  return (chosen ?? standin) === standin
    ? 'the stand-in (Chromium without Electron)'
    : `Electron in ${chosen ?? ''}`
}

export const sayDistribution = (): void => {
  process.stdout.write(`desktop specs run on ${chooseDistribution()}\n`)
}
