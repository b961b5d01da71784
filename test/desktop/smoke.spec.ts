import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DesktopApp, openDesktopApp, trayOf } from './harness/desktop-app.ts'

describe('the desktop, started for the first time', () => {
  let desktop: DesktopApp
  beforeAll(async () => {
    desktop = await openDesktopApp()
  })
  afterAll(() => desktop.close())

  it('starts its agent and shows that nothing runs', async () => {
    const { page } = desktop
    await expect
      .poll(() => page.evaluate(() => window.rookery.status({})), { timeout: 60_000 })
      .toMatchObject({ ok: true, output: { job: null, home: desktop.home } })
    await expect.poll(() => trayOf(desktop.app)).toMatchObject({ icon: 'idle', tooltip: 'Rookery: No job' })
  })

  it('shows its page without an error on the console', async () => {
    expect(await desktop.page.locator('body').innerText()).not.toBe('')
    expect(desktop.consoleErrors).toEqual([])
  })
})
