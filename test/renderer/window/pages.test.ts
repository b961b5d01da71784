/** Every scene in both themes and sizes: nothing cut, no fault for screen readers, nothing refused by the CSP. */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWindows } from '../chromium-window.ts'
import type { View, WindowInChromium } from '../chromium-window.ts'
import { scenes } from '../fixtures/scenes.ts'
import { cutTexts } from '../cut-texts.ts'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface AxeResult {
  readonly violations: {
    readonly id: string
    readonly nodes: { readonly html: string; readonly failureSummary?: string }[]
  }[]
}

const views: View[] = [
  { width: 900, height: 640, scheme: 'light' },
  { width: 900, height: 640, scheme: 'dark' },
  { width: 1400, height: 900, scheme: 'light' },
  { width: 1400, height: 900, scheme: 'dark' },
]

let windows: WindowInChromium
let folder: string
beforeAll(async () => {
  windows = await openWindows()
  folder = process.env['ROOKERY_SHOTS'] ?? (await mkdtemp(join(tmpdir(), 'rookery-shots-')))
})
afterAll(() => windows.close())

describe.each(scenes)('the page $name', (scene) => {
  it.each(views)('at $width × $height in $scheme is whole and usable by everyone', async (view) => {
    const page = await windows.open(scene, view)
    const refused: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error') refused.push(message.text())
    })
    page.on('pageerror', (error) => refused.push(error.message))
    await page.screenshot({ path: join(folder, `${scene.name}-${view.width}-${view.scheme}.png`) })
    const cut = await page.evaluate(cutTexts)
    // Through the protocol, as the page's own CSP lets nothing in.
    await page.evaluate(axeSource)
    const { violations } = await page.evaluate(() =>
      (globalThis as unknown as { axe: { run(): Promise<AxeResult> } }).axe.run(),
    )
    const faults = violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`),
    )
    await page.context().close()
    expect({ cut, faults, refused }).toEqual({ cut: [], faults: [], refused: [] })
  })
})
