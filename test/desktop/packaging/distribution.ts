/** A folder that electron-builder takes for an Electron distribution: the stand-in, with the fuses of the real one. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What @electron/fuses looks for, then version 1 and nine fuses in Electron's own positions. */
const sentinel = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX'
const fuses = '101100011'

const launcher = (standin: string): string => `#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
export STANDIN_RESOURCES="$here/resources"
exec "${standin}/electron" "$@"
# `

export function makeDistribution(folder: string, standin: string): void {
  mkdirSync(join(folder, 'locales'), { recursive: true })
  const wire = Buffer.concat([Buffer.from(sentinel), Buffer.from([1, fuses.length]), Buffer.from(fuses)])
  const executable = Buffer.concat([Buffer.from(launcher(standin)), wire, Buffer.from('\n')])
  writeFileSync(join(folder, 'electron'), executable, { mode: 0o755 })
  writeFileSync(join(folder, 'version'), '45.5.0')
  for (const file of ['LICENSE', 'LICENSES.chromium.html', 'chrome-sandbox', 'locales/en-US.pak'])
    writeFileSync(join(folder, file), '')
}
