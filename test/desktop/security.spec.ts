/** What a page that was taken over could still not do. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { windowCommands } from '../../shared/messages/ipc.ts'
import { type DesktopApp, openRunningApp, root } from './harness/desktop-app.ts'
import { hostileLinks } from './harness/hostile-links.ts'

const names = Object.keys(windowCommands) as (keyof typeof windowCommands)[]

describe('a page of the window', () => {
  let desktop: DesktopApp
  beforeAll(async () => {
    desktop = await openRunningApp()
  })
  afterAll(() => desktop.close())

  it('is our own, sandboxed and apart from its preload', async () => {
    const pages = await desktop.app.evaluate(({ BrowserWindow }) =>
      BrowserWindow.getAllWindows().map(({ webContents }) => {
        const { sandbox, contextIsolation, nodeIntegration, webviewTag } = preferencesOf(webContents)
        return [webContents.getURL(), { sandbox, contextIsolation, nodeIntegration, webviewTag }]

        // Electron leaves it out of its types.
        function preferencesOf(contents: unknown): Electron.WebPreferences {
          return (contents as { getLastWebPreferences(): Electron.WebPreferences }).getLastWebPreferences()
        }
      }),
    )
    expect(pages).toEqual([
      [
        'app://rookery/index.html',
        { sandbox: true, contextIsolation: true, nodeIntegration: false, webviewTag: false },
      ],
    ])
  })

  it('sees one frozen object of named functions, and nothing of Node or Electron', async () => {
    const seen = await desktop.page.evaluate(() => ({
      hidden: ['require', 'process', 'module', 'ipcRenderer', 'electron', 'Buffer'].filter(
        (name) => name in window,
      ),
      frozen: Object.isFrozen(window.rookery),
      functions: Object.keys(window.rookery).sort(),
    }))
    expect(seen).toEqual({
      hidden: [],
      frozen: true,
      functions: [...names, 'onSnapshot', 'onDesktop'].sort(),
    })
  })

  it('runs no inline script, no text as code, and no foreign one', async () => {
    const ran = await desktop.page.evaluate(async () => {
      const marks = window as unknown as Record<string, unknown>
      const inline = document.createElement('script')
      inline.textContent = 'window.inlineRan = true'
      const image = document.createElement('img')
      image.setAttribute('onerror', 'window.handlerRan = true')
      image.src = '/missing.png'
      const foreign = document.createElement('script')
      foreign.src = 'https://example.org/x.js'
      const refused = new Promise((resolve) => {
        foreign.onerror = resolve
      })
      // Our own listener is asked after the attribute's, which must not have run.
      const missing = new Promise((resolve) => {
        image.addEventListener('error', resolve)
      })
      document.body.append(inline, image, foreign)
      await Promise.all([refused, missing])
      const link = document.createElement('a')
      link.href = 'javascript:window.linkRan = true'
      link.click()
      const evaluate = (): string => {
        try {
          return String((0, eval)('1 + 1'))
        } catch (thrown) {
          return (thrown as Error).name
        }
      }
      for (const element of [inline, image, foreign]) element.remove()
      return [marks['inlineRan'], marks['handlerRan'], marks['linkRan'], evaluate()]
    })
    expect(ran).toEqual([undefined, undefined, undefined, 'EvalError'])
  })

  it('reaches no network', async () => {
    const reached = await desktop.page.evaluate(async () => {
      const tried = [fetch('https://example.org/'), fetch('http://127.0.0.1:1/'), fetch('/index.html')]
      return (await Promise.allSettled(tried)).map(({ status }) => status)
    })
    expect(reached).toEqual(['rejected', 'rejected', 'rejected'])
  })

  it('cannot leave, open a window or put a frame into itself', async () => {
    const { app, page } = desktop
    await page.evaluate(() => {
      window.open('https://example.org/')
      window.open('/index.html')
      const frame = document.createElement('iframe')
      frame.src = 'https://example.org/'
      document.body.append(frame)
      location.href = 'https://example.org/'
    })
    // Nothing may happen, and nothing tells when it has not: long enough for what would.
    await page.waitForTimeout(1500)
    expect(await page.evaluate(() => 'rookery' in window)).toBe(true)
    expect(await app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().length)).toBe(1)
    await expect.poll(() => app.windows().length).toBe(1)
    expect(await page.evaluate(() => document.querySelector('iframe')?.contentDocument ?? null)).toBeNull()
    await page.evaluate(() => document.querySelector('iframe')?.remove())
  })

  it('has no permission of the system', async () => {
    const states = await desktop.page.evaluate(async () => {
      const asked = ['geolocation', 'notifications', 'midi'] as const
      return Promise.all(asked.map(async (name) => (await navigator.permissions.query({ name })).state))
    })
    expect(states).toEqual(['denied', 'denied', 'denied'])
  })

  it('gets 404 for every path that is no file of the window', async () => {
    const { page } = desktop
    const statuses: number[] = []
    page.on('response', (response) => statuses.push(response.status()))
    const paths = [
      '/..%2fmain.js',
      '/%2e%2e%2fpreload.cjs',
      '/assets/..%5c..%5cmain.js',
      '//etc/passwd',
      '/missing.js',
    ]
    await page.evaluate(async (sources) => {
      for (const source of sources) {
        const script = document.createElement('script')
        script.src = new URL(location.href).origin + source
        const done = new Promise((resolve) => {
          script.onerror = script.onload = resolve
        })
        document.body.append(script)
        await done
        script.remove()
      }
    }, paths)
    expect(statuses).toEqual(paths.map(() => 404))
  })

  it('is refused what no command takes', async () => {
    const answers = await desktop.page.evaluate(async (channels) => {
      const bridge = window.rookery as unknown as Record<string, (input: unknown) => Promise<unknown>>
      return Promise.all(channels.map((name) => bridge[name]!(7)))
    }, names)
    for (const answer of answers)
      expect(answer).toMatchObject({ ok: false, error: { code: 'invalid-input' } })
  })

  it('writes to and restores from no place that the person did not choose', async () => {
    const answers = await desktop.page.evaluate(() =>
      Promise.all([
        window.rookery.diagnostics({ to: '/tmp/rookery-anywhere' }),
        window.rookery.backupIdentity({ to: '/tmp/rookery-anywhere' }),
        window.rookery.restoreIdentity({ from: '/tmp/rookery-anywhere' }),
        window.rookery.exportModel({ model: '/tmp/m', to: '/tmp/rookery-anywhere' }),
      ]),
    )
    for (const answer of answers)
      expect(answer).toMatchObject({
        ok: false,
        error: { message: expect.stringMatching(/^choose the place/) as string },
      })
  })

  it('joins no job by any of fifty hostile links, and says why', async () => {
    const answers = await desktop.page.evaluate(
      (links) => Promise.all(links.map((invite) => window.rookery.join({ invite }))),
      hostileLinks,
    )
    expect(answers).toHaveLength(50)
    for (const answer of answers)
      expect(answer).toMatchObject({
        ok: false,
        error: { kind: 'bad-input', message: expect.stringMatching(/^\w.{20,}$/) as string },
      })
    const status = await desktop.page.evaluate(() => window.rookery.status({}))
    expect(status).toMatchObject({ ok: true, output: { job: null } })
  })

  it('is the only one that is answered: another window with the same preload is refused on every channel', async () => {
    const { app } = desktop
    const preload = join(root, 'main/desktop/dist/preload.cjs')
    const opened = app.waitForEvent('window')
    const id = await app.evaluate(async ({ BrowserWindow }, path) => {
      const webPreferences = { preload: path, sandbox: true, contextIsolation: true }
      const other = new BrowserWindow({ width: 400, height: 300, show: false, webPreferences })
      await other.loadURL('app://rookery/index.html')
      return other.id
    }, preload)
    const other = await opened
    await other.waitForFunction(() => 'rookery' in window)
    const answers = await other.evaluate(async (channels) => {
      const bridge = window.rookery as unknown as Record<string, (input: unknown) => Promise<unknown>>
      return Promise.all(channels.map((name) => bridge[name]!({})))
    }, names)
    for (const answer of answers)
      expect(answer).toMatchObject({ ok: false, error: { code: 'foreign-sender' } })
    await app.evaluate(({ BrowserWindow }, made) => {
      BrowserWindow.fromId(made)?.destroy()
    }, id)
  })
})
