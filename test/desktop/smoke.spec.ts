/** The app as it is when nobody has done anything yet. */
import axe from 'axe-core'
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

  it.each(['Home', 'Job', 'Join', 'Host', 'Limits', 'Trouble'])('shows %s to everyone', async (name) => {
    const { page, consoleErrors } = desktop
    await page.getByRole('navigation').getByRole('link', { name }).click()
    await page.waitForFunction((title) => document.title.startsWith(title), name)
    // Evaluated through the protocol: the page's own CSP lets nothing in.
    await page.evaluate(axe.source)
    const faults = await page.evaluate(async () => {
      const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run()
      return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
    })
    expect(faults).toEqual([])
    expect(consoleErrors).toEqual([])
  })
})
