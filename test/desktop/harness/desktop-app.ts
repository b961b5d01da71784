/** The app for the time of a spec: its own home folder, its own agent, and what a spec may do from outside. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { _electron, type ElectronApplication, type Page } from 'playwright-core'
import { vi } from 'vitest'
import type { TrayFace } from '../../../main/desktop/tray/tray.ts'
import type { Bridge } from '../../../shared/messages/ipc.ts'

export const root = join(import.meta.dirname, '../../..')

declare global {
  /** Set by the app for tests. */
  var rookeryTray: () => TrayFace
  interface Window {
    readonly rookery: Bridge
  }
}

export interface DesktopApp {
  readonly app: ElectronApplication
  readonly page: Page
  readonly home: string
  /** Everything that the page wrote to its console as an error. */
  readonly consoleErrors: string[]
  close(): Promise<void>
}

/** Agents of specs meet on this machine alone. */
const settings = {
  version: 2,
  network: { address: '127.0.0.1', localDiscovery: false },
  engine: { backend: 'cpu' },
}

export function makeHome(more: object = {}): string {
  const home = mkdtempSync(join(tmpdir(), 'rookery-desktop-'))
  writeFileSync(join(home, 'settings.json'), JSON.stringify({ ...settings, ...more }))
  return home
}

export interface LaunchOptions {
  readonly home?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly args?: readonly string[]
}

export async function openDesktopApp(options: LaunchOptions = {}): Promise<DesktopApp> {
  const home = options.home ?? makeHome()
  mkdirSync(home, { recursive: true })
  const app = await _electron.launch({
    args: [root, ...(options.args ?? [])],
    cwd: root,
    env: environmentOf(home, options.environment),
    timeout: 120_000,
  })
  app.process().stderr?.on('data', (chunk: Buffer) => {
    if (process.env['ROOKERY_SHOW'] !== undefined) process.stderr.write(chunk)
  })
  const consoleErrors: string[] = []
  app.context().on('console', (message) => {
    if (message.type() === 'error') consoleErrors.push(message.text())
  })
  app.context().on('weberror', (error) => consoleErrors.push(error.error().message))
  const page = await app.firstWindow()
  await page.waitForFunction(() => 'rookery' in window)
  return {
    ...{ app, page, home, consoleErrors },
    async close() {
      await app.close()
      rmSync(home, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** The app with its agent up. */
export async function openRunningApp(options: LaunchOptions = {}): Promise<DesktopApp> {
  const desktop = await openDesktopApp(options)
  const state = () => desktop.page.evaluate(() => window.rookery.status({}))
  await vi.waitUntil(async () => (await state()).ok, { timeout: 120_000, interval: 300 })
  return desktop
}

function environmentOf(home: string, more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const mine = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  )
  return { ...Object.fromEntries(mine), ROOKERY_HOME: home, ROOKERY_TRAY: 'yes', ROOKERY_TEST: '1', ...more }
}

/** Start the app once more on the same home, as the system does for a link. @returns its exit code */
export async function startAgain(home: string, ...args: readonly string[]): Promise<number | null> {
  const distribution = process.env['ELECTRON_OVERRIDE_DIST_PATH'] ?? join(root, 'node_modules/electron/dist')
  const child = spawn(join(distribution, 'electron'), [root, ...args], {
    cwd: root,
    env: environmentOf(home),
    stdio: 'ignore',
  })
  await once(child, 'exit')
  return child.exitCode
}

/** What `rookery --json …` says on this home: its last line. */
export function cli(home: string, ...args: readonly string[]): Record<string, unknown> {
  const said = execFileSync(
    process.execPath,
    [join(root, 'main/cli/index.ts'), ...args, '--home', home, '--json'],
    // What it says to people is no matter of ours.
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
  )
  return JSON.parse(said.trim().split('\n').at(-1) ?? '{}') as Record<string, unknown>
}

/** Process id of the agent that lives in a home. */
export const agentPid = (home: string): number => Number(readFileSync(join(home, 'agent.pid'), 'utf8'))

export interface TrayLook {
  readonly icon: string | undefined
  readonly tooltip: string
  readonly items: readonly { readonly id: string; readonly label: string }[]
}

export const trayOf = (app: ElectronApplication): Promise<TrayLook> =>
  app.evaluate(() => {
    const { icon, tooltip, menu } = globalThis.rookeryTray()
    const items = (menu?.items ?? []).filter(({ type }) => type !== 'separator')
    return { icon, tooltip, items: items.map(({ id, label }) => ({ id, label })) }
  })

/** Click an item of the tray's menu as soon as the menu has it: it follows the agent at most once a second. */
export async function clickTray(app: ElectronApplication, id: string): Promise<void> {
  const click = () =>
    app.evaluate((_electron, wanted) => {
      const item = globalThis.rookeryTray().menu?.getMenuItemById(wanted)
      item?.click()
      return item != null
    }, id)
  await vi.waitUntil(click, { timeout: 30_000, interval: 200 })
}
