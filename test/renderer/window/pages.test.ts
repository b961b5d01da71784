/** Every scene in both themes and sizes: nothing cut, no fault for screen readers, nothing refused by the CSP. */
import { join } from 'node:path'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { drawn, openWindows } from '../chromium-window.ts'
import type { View, WindowInChromium } from '../chromium-window.ts'
import { cutTexts } from '../cut-texts.ts'
import { hardScenes } from '../fixtures/hard-scenes.ts'
import { scenes } from '../fixtures/scenes.ts'
import type { Scene } from '../fixtures/scenes.ts'

interface AxeResult {
  readonly violations: readonly {
    readonly id: string
    readonly nodes: readonly { readonly html: string }[]
  }[]
}
interface Axe {
  run(options: { resultTypes: string[] }): Promise<AxeResult>
}

/** Runs in the page. The other results are thousands of elements that nobody reads. */
async function runAxe(): Promise<string[]> {
  const { axe: inPage } = globalThis as unknown as { axe: Axe }
  const { violations } = await inPage.run({ resultTypes: ['violations'] })
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`))
}

const normal = { width: 900, height: 640 }
const large = { width: 1400, height: 900 }
/** A person who zooms to 200 % has half as many CSS pixels. */
const zoomed = { width: 450, height: 320 }
const small: View = { ...normal, scheme: 'light' }
const largestFont = 32

let windows: WindowInChromium
beforeAll(async () => {
  windows = await openWindows()
})
afterAll(() => windows.close())

/** A folder for pictures that a person wants to look at; no test reads them. */
const folder = process.env['ROOKERY_SHOTS']

/** The faults of a page as it stands. */
async function look(page: Page, name: string): Promise<string[]> {
  await drawn(page)
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`) })
  return (await cutTexts(page)).map((fault) => `${name}: ${fault}`)
}

/** Text twice as large, as the system's settings ask for it, in a window that stays as it is. */
async function withLargeText(page: Page, name: string): Promise<string[]> {
  const browser = await page.context().newCDPSession(page)
  await page.setViewportSize(normal)
  await browser.send('Page.setFontSizes', { fontSizes: { standard: largestFont, fixed: largestFont } })
  return look(page, name)
}

async function faultsOf(page: Page, scene: Scene, sizes: readonly (typeof normal)[]): Promise<string[]> {
  const found: string[] = []
  // Evaluated through the protocol: the page's own CSP lets nothing in.
  await page.evaluate(axe.source)
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme })
    for (const size of sizes) {
      await page.setViewportSize(size)
      found.push(...(await look(page, `${scene.name}-${size.width}-${scheme}`)))
    }
    found.push(...(await page.evaluate(runAxe)).map((fault) => `${scheme}: ${fault}`))
  }
  await page.setViewportSize(zoomed)
  found.push(
    ...(await look(page, `${scene.name}-zoomed`)),
    ...(await withLargeText(page, `${scene.name}-text`)),
  )
  return found
}

const kinds = [
  { of: 'page', list: scenes, sizes: [normal, large] },
  { of: 'hard case', list: hardScenes, sizes: [normal] },
]

describe.each(kinds)('every $of', ({ list, sizes }) => {
  it.each(list)('$name is whole, also at 200 %, and usable by everyone, in both themes', async (scene) => {
    const { page, complaints } = await windows.open(scene, small)
    const found = await faultsOf(page, scene, sizes)
    await page.close()
    expect([...found, ...complaints]).toEqual([])
  })
})
