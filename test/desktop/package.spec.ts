/** The .deb: what is in it, and its life on a system: installed, driven, updated, purged. */
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { listPackage } from '@electron/asar'
import { FuseState, FuseV1Options, getCurrentFuseWire } from '@electron/fuses'
import { _electron } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { digitsJob } from './harness/digits-host.ts'
import { makeHome, root } from './harness/desktop-app.ts'
import { makeDeb } from './packaging/make-deb.ts'

/** A system of its own: dpkg installs into this folder, its scripts know it as DPKG_ROOT. */
function makeSystem(): { readonly folder: string; dpkg(...args: readonly string[]): string } {
  const folder = mkdtempSync(join(tmpdir(), 'rookery-system-'))
  for (const path of ['var/lib/dpkg/info', 'var/lib/dpkg/updates', 'usr/bin'])
    mkdirSync(join(folder, path), { recursive: true })
  for (const file of ['status', 'available']) writeFileSync(join(folder, 'var/lib/dpkg', file), '')
  const forced = ['--force-script-chrootless', '--force-depends', '--force-not-root', '--force-unsafe-io']
  return {
    folder,
    dpkg: (...args) =>
      execFileSync('dpkg', [`--root=${folder}`, ...forced, ...args], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
  }
}

const filesUnder = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length))
    .filter((path) => !path.startsWith('/var/lib/dpkg/') && !path.startsWith('/var/log/'))

describe.runIf(existsSync('/usr/bin/dpkg'))('the package', () => {
  const system = makeSystem()
  const installed = (path: string): string => join(system.folder, path)
  const userData = installed(`${homedir()}/.local/share/rookery`)
  let deb = ''
  beforeAll(() => {
    deb = makeDeb()
  }, 600_000)
  afterAll(() => {
    rmSync(system.folder, { recursive: true, force: true })
  })

  it('installs a program, a command line, a menu entry and a handler of invites', () => {
    system.dpkg('-i', deb)
    expect(realpathSync(installed('usr/bin/rookery-desktop'))).toBe(installed('opt/Rookery/rookery-desktop'))
    const entry = readFileSync(installed('usr/share/applications/rookery-desktop.desktop'), 'utf8')
    expect(entry).toMatch(/^Exec=\/opt\/Rookery\/rookery-desktop %U$/m)
    expect(entry).toMatch(/^MimeType=application\/x-rookery-invite;x-scheme-handler\/rookery;$/m)
    const help = execFileSync(installed('usr/bin/rookery'), ['--help'], { encoding: 'utf8' })
    expect(help).toMatch(/join/)
  })

  it('carries its own code in the archive, and no library beside it', () => {
    const listed = listPackage(installed('opt/Rookery/resources/app.asar'), { isPack: false })
    const named = listed.map((path) => path.replace(/-[\w-]{8}(\.\w+)$/, '-*$1'))
    expect(named.filter((path) => /\.\w+$/.test(path) && !path.includes('/icons/')).sort()).toEqual([
      '/main/desktop/dist/main.js',
      '/main/desktop/dist/preload.cjs',
      '/main/desktop/dist/window/assets/icon-*.svg',
      '/main/desktop/dist/window/assets/index-*.css',
      '/main/desktop/dist/window/assets/index-*.js',
      '/main/desktop/dist/window/index.html',
      '/package.json',
    ])
  })

  it('has the fuses set that close Electron’s side doors', async () => {
    const wire = await getCurrentFuseWire(installed('opt/Rookery/rookery-desktop'))
    const on = [
      FuseV1Options.EnableCookieEncryption,
      FuseV1Options.EnableEmbeddedAsarIntegrityValidation,
      FuseV1Options.OnlyLoadAppFromAsar,
    ]
    const off = [
      FuseV1Options.RunAsNode,
      FuseV1Options.EnableNodeOptionsEnvironmentVariable,
      FuseV1Options.EnableNodeCliInspectArguments,
      FuseV1Options.GrantFileProtocolExtraPrivileges,
    ]
    expect(on.map((fuse) => wire[fuse])).toEqual(on.map(() => FuseState.ENABLE))
    expect(off.map((fuse) => wire[fuse])).toEqual(off.map(() => FuseState.DISABLE))
  })

  it('runs, with the agent and the Node that came with it', async () => {
    const home = makeHome({ engine: { backend: 'auto' } })
    const app = await _electron.launch({
      executablePath: installed('opt/Rookery/rookery-desktop'),
      cwd: tmpdir(),
      env: { ...process.env, ROOKERY_HOME: home, ROOKERY_TRAY: 'yes', ROOKERY_TEST: '1' },
    })
    const page = await app.firstWindow()
    await page.waitForFunction(() => 'rookery' in window)
    await expect
      .poll(() => page.evaluate(() => window.rookery.status({})), { timeout: 120_000, interval: 500 })
      .toMatchObject({ ok: true, output: { home } })
    const doors = await app.evaluate(({ app: own, BrowserWindow }) => {
      // Electron leaves it out of its types.
      const contents = BrowserWindow.getAllWindows()[0]?.webContents as unknown as {
        getLastWebPreferences(): Electron.WebPreferences
      }
      const { devTools } = contents.getLastWebPreferences()
      return { packaged: own.isPackaged, devTools, forTests: 'rookeryTray' in globalThis }
    })
    expect(doors).toEqual({ packaged: true, devTools: false, forTests: false })
    const pid = readFileSync(join(home, 'agent.pid'), 'utf8')
    expect(realpathSync(`/proc/${pid}/exe`)).toBe(installed('opt/Rookery/resources/agent/runtime/node'))
    const job = digitsJob(1, 5)
    expect(await page.evaluate((file) => window.rookery.host({ job: file }), job)).toMatchObject({ ok: true })
    await expect
      .poll(() => page.evaluate(() => window.rookery.status({})), { timeout: 120_000, interval: 500 })
      .toMatchObject({
        output: {
          backend: expect.stringMatching(/^kernels-/) as string,
          job: { result: { outcome: 'finished', updates: 5 } },
        },
      })
    await app.close()
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  })

  it('keeps what a person made when it is updated', () => {
    mkdirSync(userData, { recursive: true })
    writeFileSync(join(userData, 'identity.json'), '{}')
    system.dpkg('-i', deb)
    expect(existsSync(join(userData, 'identity.json'))).toBe(true)
  })

  it('leaves no file behind when it is purged', () => {
    system.dpkg('--purge', 'rookery')
    expect(filesUnder(system.folder)).toEqual([])
    expect(existsSync(userData)).toBe(false)
    expect(existsSync(root)).toBe(true)
  })
})
