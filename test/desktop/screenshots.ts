/** `npm run screenshots`: every page, in both themes and two sizes, into docs/screenshots. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import { drawn, openWindows } from '../renderer/chromium-window.ts'
import { scenes } from '../renderer/fixtures/scenes.ts'

const folder = join(import.meta.dirname, '../../docs/screenshots')
const sizes = [
  { width: 900, height: 640 },
  { width: 1400, height: 900 },
]
const schemes = ['light', 'dark'] as const

const windows = await openWindows()
await rm(folder, { recursive: true, force: true })
await mkdir(folder, { recursive: true })
let pictures = 0
for (const scene of scenes) {
  const { page } = await windows.open(scene, { width: 900, height: 640, scheme: 'light' })
  // Nothing looks hovered that nobody points at.
  await page.mouse.move(0, 0)
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme })
    for (const size of sizes) {
      await page.setViewportSize(size)
      await drawn(page)
      const name = `${scene.name}-${size.width}-${colorScheme}.png`
      // Few colours: a palette makes the same picture a third as large.
      const picture = await sharp(await page.screenshot())
        .png({ palette: true, quality: 100 })
        .toBuffer()
      await writeFile(join(folder, name), picture)
      pictures++
    }
  }
  await page.close()
}
await windows.close()
process.stdout.write(`${pictures} pictures in docs/screenshots\n`)
