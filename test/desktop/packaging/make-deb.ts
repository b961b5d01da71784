/** A real .deb from the stand-in: `node test/desktop/packaging/make-deb.ts`, without any download. */
import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { makeDistribution } from './distribution.ts'

const root = join(import.meta.dirname, '../../..')
const distribution = join(root, 'release/standin')

/** @returns the package's path */
export function makeDeb(): string {
  makeDistribution(distribution, join(root, 'test/desktop/standin'))
  const builder = join(root, 'node_modules/.bin/electron-builder')
  execFileSync(builder, ['--linux', 'deb', '--publish', 'never', `-c.electronDist=${distribution}`], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, CUSTOM_FPM_PATH: join(import.meta.dirname, 'fpm') },
  })
  return globSync('release/packages/*.deb', { cwd: root }).map((file) => join(root, file))[0] ?? ''
}

if (import.meta.main) process.stdout.write(`${makeDeb()}\n`)
