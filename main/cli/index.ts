#!/usr/bin/env node
/** Entry of the `rookery` command. Runs itself again with the project's own Node when started by an older one. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const leastMajor = 24
const major = Number(process.versions.node.split('.')[0])

if (major >= leastMajor) {
  const { main } = await import('./main.ts')
  await main()
} else {
  const own = join(import.meta.dirname, '../../node_modules/.bin/node')
  const usable = existsSync(own) && process.env['ROOKERY_REEXEC'] === undefined
  if (usable) {
    const { status } = spawnSync(own, process.argv.slice(1), {
      stdio: 'inherit',
      env: { ...process.env, ROOKERY_REEXEC: '1' },
    })
    process.exitCode = status ?? 1
  } else {
    process.stderr.write(`rookery: needs Node ${leastMajor} or newer, this is ${process.versions.node}\n`)
    process.exitCode = 2
  }
}
