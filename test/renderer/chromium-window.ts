/** The built window in a real Chromium, with a fake bridge in place of the preload: fixtures in, commands recorded. */
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { extname, join, normalize } from 'node:path'
import { chromium } from 'playwright-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { build, mergeConfig } from 'vite'
import windowConfig from '../../renderer/vite.config.ts'
import { windowCommands } from '../../shared/messages/ipc.ts'
import { fixtureNow } from './fixtures/snapshots.ts'
import type { Scene } from './fixtures/scenes.ts'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
}
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** A page of the window's own site without anything on it. */
const emptyPage = 'empty.html'

/** Runs in the page before its scripts: what the preload would offer. */
function installBridge(given: {
  names: string[]
  snapshot: unknown
  desktop: unknown
  outputs: Record<string, unknown>
  failures: Record<string, unknown>
}): void {
  type Listener = (state: unknown) => void
  const listeners = { snapshot: new Set<Listener>(), desktop: new Set<Listener>() }
  const calls: { name: string; input: unknown }[] = []
  const { failures } = given
  const watch = (kind: 'snapshot' | 'desktop') => (listener: Listener) => {
    listeners[kind].add(listener)
    if (given[kind] !== null) listener(given[kind])
    return () => listeners[kind].delete(listener)
  }
  const command = (name: string) => (input: unknown) => {
    calls.push({ name, input })
    const error = failures[name]
    if (error !== undefined) return Promise.resolve({ ok: false, error })
    return Promise.resolve({ ok: true, output: given.outputs[name] ?? null })
  }
  const intervals = new Map<number, number>()
  const asked: string[] = []
  const page = globalThis as unknown as Window
  const start = page.setInterval.bind(page)
  const stop = page.clearInterval.bind(page)
  const later = page.setTimeout.bind(page)
  const nextFrame = page.requestAnimationFrame.bind(page)
  Object.assign(globalThis, {
    setInterval: (call: () => void, delay = 0) => {
      const id = start(call, delay)
      intervals.set(id, delay)
      return id
    },
    setTimeout: (call: () => void, delay = 0) => {
      asked.push(`timeout of ${delay} ms`)
      return later(call, delay)
    },
    requestAnimationFrame: (call: FrameRequestCallback) => {
      asked.push('frame')
      return nextFrame(call)
    },
    clearInterval: (id: number) => {
      intervals.delete(id)
      stop(id)
    },
    rookery: {
      ...Object.fromEntries(given.names.map((name) => [name, command(name)])),
      onSnapshot: watch('snapshot'),
      onDesktop: watch('desktop'),
    },
    fake: {
      intervals,
      asked,
      calls,
      failures,
      push(kind: 'snapshot' | 'desktop', state: unknown) {
        given[kind] = state
        for (const listener of listeners[kind]) listener(state)
      },
    },
  })
}

interface FakeBridge {
  /** Delays in milliseconds of the repeating timers that run, by id. */
  readonly intervals: Map<number, number>
  /** Single timers and frames that the page asked for, in order. */
  readonly asked: string[]
  readonly calls: { name: string; input: unknown }[]
  readonly failures: Record<string, unknown>
  push(kind: 'snapshot' | 'desktop', state: unknown): void
}
declare global {
  var fake: FakeBridge
}

export interface View {
  readonly width: number
  readonly height: number
  readonly scheme: 'light' | 'dark'
}

/** A page, and what its console and its CSP complained about. */
interface OpenWindow {
  readonly page: Page
  readonly complaints: readonly string[]
}

export interface WindowInChromium {
  /** Bytes of the built files by name. */
  readonly files: ReadonlyMap<string, Buffer>
  /** A scene as a person would find it, its steps done, its fonts and plots drawn. */
  open(scene: Scene, view: View): Promise<OpenWindow>
  close(): Promise<void>
}

async function serve(files: ReadonlyMap<string, Buffer>): Promise<{ server: Server; address: string }> {
  const server = createServer((request, response) => {
    const name = normalize(new URL(request.url ?? '/', 'http://window').pathname).slice(1) || 'index.html'
    const body = name === emptyPage ? '' : files.get(name)
    if (body === undefined) {
      response.writeHead(404).end()
      return
    }
    const type = types[extname(name)] ?? 'application/octet-stream'
    response
      .writeHead(200, { 'content-type': type, 'content-security-policy': contentSecurityPolicy })
      .end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const bound = server.address()
  return {
    server,
    address: `http://127.0.0.1:${typeof bound === 'object' && bound !== null ? bound.port : 0}/`,
  }
}

async function buildFiles(): Promise<Map<string, Buffer>> {
  const outDir = await mkdtemp(join(tmpdir(), 'rookery-window-'))
  const built = await build(
    mergeConfig(windowConfig, { configFile: false, logLevel: 'error', build: { outDir, emptyOutDir: true } }),
  )
  const outputs = Array.isArray(built) ? built : [built]
  const names = outputs.flatMap((one) => ('output' in one ? one.output.map(({ fileName }) => fileName) : []))
  const files = new Map<string, Buffer>()
  for (const name of names) files.set(name, await readFile(join(outDir, name)))
  await rm(outDir, { recursive: true, force: true })
  return files
}

/** Two frames later everything that was asked for is on the screen. */
export const drawn = (page: Page): Promise<unknown> =>
  page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))

/** Tell the page a new state, as the agent or the desktop would. */
export const push = (page: Page, kind: 'snapshot' | 'desktop', state: unknown): Promise<void> =>
  page.evaluate(
    ([which, value]) => {
      fake.push(which, value)
    },
    [kind, state] as const,
  )

/**
 * Where every scene has a page of its own, and nothing else: the window keeps nothing in storage.
 *
 * An empty page stays, and with `--process-per-site` its process: started anew for each scene, the
 * process and its compiled scripts took more time than what is looked at.
 */
async function openContext(browser: Browser, address: string): Promise<BrowserContext> {
  // Reduced motion: no picture of a colour on its way.
  const context = await browser.newContext({ reducedMotion: 'reduce', locale: 'en-GB' })
  const page = await context.newPage()
  await page.goto(`${address}${emptyPage}`)
  return context
}

async function show(
  context: BrowserContext,
  address: string,
  scene: Scene,
  { width, height, scheme }: View,
): Promise<OpenWindow> {
  const page = await context.newPage()
  await page.setViewportSize({ width, height })
  await page.emulateMedia({ colorScheme: scheme })
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  await page.clock.setFixedTime(fixtureNow)
  await page.addInitScript(installBridge, {
    names: Object.keys(windowCommands),
    snapshot: scene.snapshot,
    desktop: scene.desktop,
    outputs: { ...scene.outputs },
    failures: Object.fromEntries(
      Object.entries(scene.failures ?? {}).map(([name, message]) => [
        name,
        { kind: 'bad-input', code: 'invalid', message },
      ]),
    ),
  })
  await page.goto(`${address}#${scene.page}`)
  await page.locator('h1').waitFor()
  await scene.act?.(page)
  await drawn(page)
  return { page, complaints }
}

export async function openWindows(): Promise<WindowInChromium> {
  const files = await buildFiles()
  const { server, address } = await serve(files)
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--process-per-site'],
  })
  const context = await openContext(browser, address)
  return {
    files,
    open: (scene, view) => show(context, address, scene, view),
    async close() {
      await browser.close()
      server.close()
    },
  }
}
