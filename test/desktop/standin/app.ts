/** `app`: its life from ready to quit, its folders, and the lock that keeps one instance. */
import { spawnSync } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { mkdirSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { endChromium } from './chromium.ts'
import { preventable } from './preventable.ts'

interface Manifest {
  readonly name: string
  readonly version: string
}

/** Runs in a process of its own, as the lock must be known before `requestSingleInstanceLock` returns. */
const knock = (path: string, message: string): string => `
  const socket = require('node:net').connect(${JSON.stringify(path)}, () => socket.end(${JSON.stringify(message)}))
  socket.on('close', (failed) => process.exit(failed ? 0 : 7)).on('error', () => {}).resume()`
const heard = 7

class App extends EventEmitter {
  isPackaged = false
  readonly commandLine = { appendSwitch: () => undefined, hasSwitch: () => false }
  readonly #ready = Promise.withResolvers<undefined>()
  readonly #paths = new Map<string, string>()
  #manifest: Manifest = { name: 'app', version: '0.0.0' }
  #name: string | undefined
  #isReady = false
  #beside: BrowserLife = { windows: () => [] }
  #lock: Server | undefined
  #login = { openAtLogin: false }

  /** Called by `boot.ts` before the app's own code. */
  prepare(manifest: Manifest, isPackaged: boolean, beside: BrowserLife): void {
    this.#manifest = manifest
    this.isPackaged = isPackaged
    this.#beside = beside
  }

  becomeReady(): void {
    this.#isReady = true
    this.#ready.resolve(undefined)
    this.emit('ready', {}, {})
  }

  whenReady(): Promise<undefined> {
    return this.#ready.promise
  }

  isReady(): boolean {
    return this.#isReady
  }

  getName(): string {
    return this.#name ?? this.#manifest.name
  }

  setName(name: string): void {
    this.#name = name
  }

  getVersion(): string {
    return this.#manifest.version
  }

  getPath(name: string): string {
    const appData = process.env['XDG_CONFIG_HOME'] ?? join(homedir(), '.config')
    const known = { home: homedir(), appData, userData: join(appData, this.getName()), exe: process.execPath }
    return this.#paths.get(name) ?? known[name as keyof typeof known]
  }

  setPath(name: string, path: string): void {
    this.#paths.set(name, path)
  }

  enableSandbox(): void {
    // Every window here is sandboxed.
  }

  setAsDefaultProtocolClient(): boolean {
    return true
  }

  setLoginItemSettings(settings: { readonly openAtLogin: boolean }): void {
    this.#login = { openAtLogin: settings.openAtLogin }
  }

  getLoginItemSettings(): { openAtLogin: boolean } {
    return this.#login
  }

  /** A real lock: one socket a user-data folder; a later instance sends its arguments there. */
  requestSingleInstanceLock(): boolean {
    const path = join(this.getPath('userData'), 'SingletonSocket')
    mkdirSync(dirname(path), { recursive: true })
    const message = JSON.stringify({ argv: process.argv, cwd: process.cwd() })
    const { status } = spawnSync(process.execPath, ['-e', knock(path, message)])
    if (status === heard) return false
    rmSync(path, { force: true })
    const server = createServer((socket) => {
      let said = ''
      socket.on('data', (chunk) => (said += chunk.toString()))
      socket.on('end', () => {
        const { argv, cwd } = JSON.parse(said) as { argv: string[]; cwd: string }
        this.emit('second-instance', {}, argv, cwd)
      })
    })
    this.#lock = server.listen(path).unref()
    return true
  }

  quit(): void {
    for (const name of ['before-quit', 'will-quit']) {
      const event = preventable()
      this.emit(name, event)
      if (event.defaultPrevented()) return
      if (name === 'before-quit' && !this.#beside.windows().every((window) => window.close())) return
    }
    this.exit(0)
  }

  exit(code = 0): void {
    this.emit('quit', {}, code)
    this.#lock?.close()
    void endChromium().finally(() => process.exit(code))
  }
}

/** The windows, which know the app; so the app hears of them from outside. */
interface BrowserLife {
  windows(): readonly { close(): boolean }[]
}

export const app = new App()
