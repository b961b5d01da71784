/** Builds the desktop into `dist` beside this file: main process, preload, window, and icons from their drawings. */
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import { build, type InlineConfig } from 'vite'

const here = import.meta.dirname
const root = join(here, '../..')
const dist = join(here, 'dist')
const drawings = join(root, 'resources/icons')

const common: InlineConfig = { root, configFile: false, logLevel: 'warn' }

/** One file with all its libraries: the package carries no node_modules. */
const mainProcess: InlineConfig = {
  ...common,
  ssr: { target: 'node', noExternal: true, external: ['electron'] },
  build: {
    outDir: dist,
    emptyOutDir: false,
    target: 'node24',
    minify: false,
    ssr: join(here, 'index.ts'),
    rolldownOptions: { output: { entryFileNames: 'main.js', format: 'es', codeSplitting: false } },
  },
}

/** A sandboxed preload is one CommonJS file that may require `electron` alone. */
const preload: InlineConfig = {
  ...common,
  build: {
    outDir: dist,
    emptyOutDir: false,
    target: 'chrome150',
    minify: false,
    lib: { entry: join(root, 'renderer/preload.ts'), formats: ['cjs'], fileName: () => 'preload.cjs' },
    rolldownOptions: { external: ['electron'] },
  },
}

const window: InlineConfig = {
  configFile: join(root, 'renderer/vite.config.ts'),
  logLevel: 'warn',
  build: { outDir: join(dist, 'window'), emptyOutDir: true },
}

/** Status bars want 16 points, on fine screens twice as many pixels; installers want one large picture. */
async function drawIcons(): Promise<void> {
  const folder = join(dist, 'icons')
  await mkdir(folder, { recursive: true })
  const draw = async (name: string, size: number, suffix = ''): Promise<void> => {
    // An SVG of n units at a density of 72 is n pixels wide.
    const drawing = sharp(join(drawings, `${name}.svg`), { density: 72 * Math.ceil(size / 16) })
    await drawing
      .resize(size, size)
      .png()
      .toFile(join(folder, `${name === 'logo' ? 'icon' : name}${suffix}.png`))
  }
  const trayIcons = (await readdir(drawings)).filter((file) => file.startsWith('tray-'))
  for (const file of trayIcons) {
    const name = file.replace('.svg', '')
    await draw(name, 16)
    await draw(name, 32, '@2x')
  }
  await draw('logo', 512)
}

const parts = {
  main: () => build(mainProcess),
  preload: () => build(preload),
  window: () => build(window),
  icons: drawIcons,
}

// `node main/desktop/build.ts window` builds that part only.
const asked = process.argv.slice(2)
const names = Object.keys(parts) as (keyof typeof parts)[]
if (asked.length === 0) await rm(dist, { recursive: true, force: true })
await Promise.all(
  names.filter((name) => asked.length === 0 || asked.includes(name)).map((name) => parts[name]()),
)
