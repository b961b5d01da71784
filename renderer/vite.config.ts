/** How the window is built: one script and one style sheet, nothing inline, so that the strictest CSP holds. */
import { join } from 'node:path'
import { defineConfig } from 'vite'

export default defineConfig({
  root: join(import.meta.dirname, 'window'),
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: join(import.meta.dirname, 'dist'),
    emptyOutDir: true,
    // Electron 45 carries Chromium 156.
    target: 'chrome150',
    // A data: URL for a small file would need a hole in the CSP.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
})
