/** Every scene in both themes and sizes: nothing cut, no fault for screen readers, nothing refused by the CSP. */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { drawn, openWindows } from '../chromium-window.ts'
import type { View, WindowInChromium } from '../chromium-window.ts'
import { cutTexts } from '../cut-texts.ts'
import { scenes } from '../fixtures/scenes.ts'

interface AxeResult {
  readonly violations: readonly {
    readonly id: string
    readonly nodes: readonly { readonly html: string }[]
  }[]
}

/** Runs in the page. */
const runAxe = (): Promise<AxeResult> =>
  (globalThis as unknown as { axe: { run(): Promise<AxeResult> } }).axe.run()

async function axeFaults(page: Page): Promise<string[]> {
  // Evaluated through the protocol: the page's own CSP lets nothing in.
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate(runAxe)
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`))
}

const sizes = [
  { width: 900, height: 640 },
  { width: 1400, height: 900 },
]
const small: View = { width: 900, height: 640, scheme: 'light' }

let windows: WindowInChromium
let folder: string
beforeAll(async () => {
  windows = await openWindows()
  // ROOKERY_SHOTS keeps the pictures where a person can look at them.
  folder = process.env['ROOKERY_SHOTS'] ?? (await mkdtemp(join(tmpdir(), 'rookery-shots-')))
})
afterAll(() => windows.close())

describe('every page', () => {
  it.each(scenes)('$name is whole, and usable by everyone, in both themes and sizes', async (scene) => {
    const { page, complaints } = await windows.open(scene, small)
    const found: string[] = []
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme })
      for (const size of sizes) {
        await page.setViewportSize(size)
        await drawn(page)
        const name = `${scene.name}-${size.width}-${scheme}`
        await page.screenshot({ path: join(folder, `${name}.png`) })
        found.push(...(await page.evaluate(cutTexts)).map((fault) => `${name}: ${fault}`))
      }
      found.push(...(await axeFaults(page)).map((fault) => `${scheme}: ${fault}`))
    }
    await page.context().close()
    expect([...found, ...complaints]).toEqual([])
  })
})
