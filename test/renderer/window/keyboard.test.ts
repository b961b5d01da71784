/** A person without a mouse joins, pauses and hosts: only keys, only what has the focus. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWindows } from '../chromium-window.ts'
import type { View, WindowInChromium } from '../chromium-window.ts'
import { sceneOf } from '../fixtures/scenes.ts'

const view: View = { width: 900, height: 640, scheme: 'light' }
const mostTabs = 60

/** Runs in the page: what a screen reader would say of the control that has the focus, roughly. */
function focusName(): string {
  const focused = document.activeElement
  if (focused === null) return ''
  const labels =
    focused instanceof HTMLInputElement ? Array.from(focused.labels ?? [], (label) => label.textContent) : []
  return (focused.getAttribute('aria-label') ?? [...labels, focused.textContent].join(' ')).trim()
}

/** Runs in the page: which control has the focus, and why a person could not see that it has. */
function focusFaults(): { key: string; faults: string[] } {
  const focused = document.activeElement
  if (focused === null || focused === document.body) return { key: 'none', faults: [] }
  const faults: string[] = []
  const { outlineStyle, outlineWidth } = getComputedStyle(focused)
  if (outlineStyle !== 'solid' || parseFloat(outlineWidth) < 2) faults.push('no outline')
  const box = focused.getBoundingClientRect()
  // A tall box that scrolls is seen by its beginning.
  const at = document.elementFromPoint(box.left + box.width / 2, box.top + Math.min(box.height / 2, 20))
  if (at === null || !(focused.contains(at) || at.contains(focused))) faults.push('covered, or out of view')
  const words = `${focused.getAttribute('aria-label') ?? focused.textContent} ${focused.id}`.trim()
  const order = Array.from(document.querySelectorAll('*')).indexOf(focused)
  return { key: String(order), faults: faults.map((fault) => `${words}: ${fault}`) }
}

/** Press Tab until the control with this name has the focus. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let tabs = 0; tabs < mostTabs; tabs++) {
    if (name.test(await page.evaluate(focusName))) return
    await page.keyboard.press('Tab')
  }
  throw new RangeError(`Tab never reached ${String(name)}`)
}

const callsOf = (page: Page, name: string) =>
  page.evaluate((wanted) => fake.calls.filter((call) => call.name === wanted).map(({ input }) => input), name)

let windows: WindowInChromium
beforeAll(async () => {
  windows = await openWindows()
})
afterAll(() => windows.close())

describe('a person with only a keyboard', () => {
  it('pastes an invite on Home, reads the card, joins and lands on the job', async () => {
    const { page } = await windows.open(sceneOf('home-first-start'), view)
    await page.keyboard.type('rookery://join/abc')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Join garage-tower’s pool?' }).waitFor()
    expect(await callsOf(page, 'join')).toEqual([])
    await tabTo(page, /^Join and start training$/)
    await page.keyboard.press('Enter')
    await page.waitForURL(/#job$/)
    expect(await callsOf(page, 'preview')).toEqual([{ invite: 'rookery://join/abc' }])
    expect(await callsOf(page, 'join')).toEqual([{ invite: 'rookery://join/abc' }])
    await page.close()
  })

  it('pauses at once, and for one hour', async () => {
    const { page } = await windows.open(sceneOf('home-training'), view)
    await tabTo(page, /^Pause$/)
    await page.keyboard.press('Enter')
    await tabTo(page, /^for…$/)
    await page.keyboard.press('Space')
    await tabTo(page, /^for 1 h$/)
    await page.keyboard.press('Enter')
    expect(await callsOf(page, 'pause')).toEqual([{}, { forMs: 3_600_000 }])
    await page.close()
  })

  it('hosts a job: data, model, recipe, who may join, forecast, launch', async () => {
    const { page } = await windows.open(sceneOf('host-start'), view)
    await tabTo(page, /^Choose a file…$/)
    await page.keyboard.press('Enter')
    await page.getByText('What the pool would see').waitFor()
    for (const next of [
      /^Next: model$/,
      /^Next: recipe$/,
      /^Next: who may join$/,
      /^Next: forecast and invite$/,
    ]) {
      await tabTo(page, next)
      await page.keyboard.press('Enter')
    }
    await page.getByText('Time to finish').waitFor()
    await tabTo(page, /^Open the job and get the invite$/)
    await page.keyboard.press('Enter')
    await expect.poll(() => callsOf(page, 'host')).toHaveLength(1)
    expect(await callsOf(page, 'host')).toMatchObject([
      {
        job: {
          name: 'digits',
          model: 'digits-mlp',
          data: { type: 'csv', path: '/home/mia/data/digits.csv', label: -1 },
          target: { updates: 400 },
        },
      },
    ])
    await page.close()
  })

  it.each(['home-training', 'join-card', 'job', 'host-recipe', 'host-members', 'limits-hours', 'trouble'])(
    'sees on %s where the focus is, and never below the footer',
    async (name) => {
      const { page } = await windows.open(sceneOf(name), view)
      const seen = new Set<string>()
      for (let tabs = 0; tabs < mostTabs; tabs++) {
        await page.keyboard.press('Tab')
        const { key, faults } = await page.evaluate(focusFaults)
        expect([name, ...faults]).toEqual([name])
        if (seen.has(key)) break
        seen.add(key)
      }
      expect(seen.size).toBeGreaterThan(6)
      await page.close()
    },
  )
})
