/** Without a tray, and with links that are wrong. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DesktopApp, openDesktopApp, startAgain } from './harness/desktop-app.ts'
import { formatInvite } from '../../shared/invite.ts'
import { goodLink, inviteFields } from './harness/hostile-links.ts'

describe('a desktop without a tray, started by a link', () => {
  let desktop: DesktopApp
  const pending = async () => {
    const answer = await desktop.page.evaluate(() => window.rookery.desktopState({}))
    return answer.ok ? answer.output.pendingInvite : undefined
  }
  const shownMessages = () =>
    desktop.app.evaluate(() => (globalThis as unknown as { shownMessages: string[] }).shownMessages)

  beforeAll(async () => {
    desktop = await openDesktopApp({ environment: { ROOKERY_TRAY: 'no' }, args: [goodLink] })
    await desktop.app.evaluate(({ dialog }) => {
      const shown: string[] = []
      Object.assign(globalThis, { shownMessages: shown })
      dialog.showMessageBox = (...given: unknown[]) => {
        shown.push((given.at(-1) as { message: string }).message)
        return Promise.resolve({ response: 0, checkboxChecked: false })
      }
    })
  })
  afterAll(() => desktop.close())

  it('shows the invite that it was started with', async () => {
    expect(await pending()).toBe(goodLink)
  })

  it('minimises its window instead of hiding it where nobody would find it', async () => {
    const look = await desktop.app.evaluate(({ BrowserWindow }) => {
      const window = BrowserWindow.getAllWindows()[0]!
      window.close()
      return [window.isDestroyed(), window.isMinimized()]
    })
    expect(look).toEqual([false, true])
  })

  it.each([
    ['damaged', goodLink.slice(0, -4), /^this invite is damaged/],
    ['foreign', 'rookery://leave/abc', /^this is not an invite/],
  ])('refuses a %s link with a sentence and keeps the one before', async (_kind, link, sentence) => {
    expect(await startAgain(desktop.home, link)).toBe(0)
    await expect.poll(async () => (await shownMessages()).at(-1), { timeout: 30_000 }).toMatch(sentence)
    expect(await pending()).toBe(goodLink)
  })

  it('opens an invite that was saved as a file, and refuses one that holds something else', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rookery-invites-'))
    const [good, bad] = ['good', 'bad'].map((name) => join(folder, `${name}.rookery-invite`))
    const other = formatInvite({ ...inviteFields, name: 'from a file' })
    writeFileSync(good!, `${other}\n`)
    writeFileSync(bad!, `${other}${' '.repeat(100_000)}${other}`)
    expect(await startAgain(desktop.home, good!)).toBe(0)
    await expect.poll(pending, { timeout: 30_000 }).toBe(other)
    expect(await startAgain(desktop.home, bad!)).toBe(0)
    await expect.poll(async () => (await shownMessages()).length, { timeout: 30_000 }).toBe(3)
    expect(await pending()).toBe(other)
    rmSync(folder, { recursive: true })
  })
})
