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

interface Axe {
  run(options: { resultTypes: string[]; runOnly?: string[] }): Promise<{
    readonly violations: readonly {
      readonly id: string
      readonly nodes: readonly { readonly html: string }[]
    }[]
  }>
}

/** Runs in the page. Without rules: all. */
async function runAxe(rules: string[] | undefined): Promise<string[]> {
  const { axe: checker } = globalThis as unknown as { axe: Axe }
  const only = rules === undefined ? {} : { runOnly: rules }
  const { violations } = await checker.run({ resultTypes: ['violations'], ...only })
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`))
}

/** Rules of axe that look at colours. */
const rulesOfColour = ['color-contrast', 'link-in-text-block']

/** Checks a page in one theme, then in another: where that has the same markup, only colours can make a difference. */
function createAxe(page: Page): () => Promise<string[]> {
  let seen: string | undefined
  return async () => {
    // Evaluated through the protocol: the page's own CSP lets nothing in.
    if (seen === undefined) await page.evaluate(axe.source)
    const markup = await page.content()
    const rules = markup === seen ? rulesOfColour : undefined
    seen = markup
    return page.evaluate(runAxe, rules)
  }
}

const normal = { width: 900, height: 640 }
const large = { width: 1400, height: 900 }
/** A person who zooms to 200 % has half as many CSS pixels. */
const zoomed = { width: 450, height: 320 }
const small: View = { ...normal, scheme: 'light' }
const largestFont = 32

let windows: WindowInChromium
/** Where a person wants to look at the pictures. */
const folder = process.env['ROOKERY_SHOTS']
beforeAll(async () => {
  windows = await openWindows()
})
afterAll(() => windows.close())

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
  const axeFaults = createAxe(page)
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme })
    for (const size of sizes) {
      await page.setViewportSize(size)
      found.push(...(await look(page, `${scene.name}-${size.width}-${scheme}`)))
    }
    found.push(...(await axeFaults()).map((fault) => `${scheme}: ${fault}`))
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
    await page.context().close()
    expect([...found, ...complaints]).toEqual([])
  })
})
