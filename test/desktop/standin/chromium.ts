/** Chromium without a screen, for the time of this process. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DevTools, DevToolsError } from './cdp.ts'

const switches = [
  '--headless=new',
  '--no-startup-window',
  '--remote-debugging-port=0',
  '--disable-gpu',
  '--disable-quic',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-extensions',
  '--password-store=basic',
  '--hide-scrollbars',
]

interface Chromium {
  readonly process: ChildProcess
  readonly tools: DevTools
}

let running: Chromium | undefined

/** @throws DevToolsError before `startChromium` */
export function devTools(): DevTools {
  if (running === undefined) throw new DevToolsError('the browser was not started')
  return running.tools
}

/** @returns the address of its DevTools */
export async function startChromium(): Promise<string> {
  const profile = mkdtempSync(join(tmpdir(), 'rookery-standin-'))
  // Chromium's own sandbox refuses to run for root, as in a container.
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  const program = process.env['STANDIN_CHROMIUM'] ?? '/usr/bin/chromium'
  const child = spawn(program, [...switches, `--user-data-dir=${profile}`, ...asRoot], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  process.on('exit', () => {
    child.kill('SIGKILL')
    rmSync(profile, { recursive: true, force: true, maxRetries: 3 })
  })
  const address = await addressOf(child)
  running = { process: child, tools: await DevTools.connect(address) }
  await running.tools.send('Target.setDiscoverTargets', { discover: true })
  return address
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = ''
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      const address = /^DevTools listening on (ws:\S+)/m.exec(said)?.[1]
      if (address !== undefined) resolve(address)
    })
    child.on('error', reject)
    child.on('exit', (code) => {
      reject(new DevToolsError(`chromium ended with ${code ?? 'a signal'}: ${said}`))
    })
  })
}

export async function endChromium(): Promise<void> {
  if (running === undefined) return
  const { process: child, tools } = running
  const gone = new Promise((resolve) => child.once('exit', resolve))
  await tools.send('Browser.close').catch(() => undefined)
  const late = setTimeout(() => child.kill('SIGKILL'), 3000)
  await gone
  clearTimeout(late)
}
