import { defineConfig } from 'vitest/config'

/** A project per room: pure code fast, real adapters with time to start, whole agents last. */
const project = (name: string, include: string[], testTimeout: number) => ({
  test: { name, include, environment: 'node' as const, testTimeout, hookTimeout: testTimeout },
})

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      project('core', ['test/{core,shared}/**/*.test.ts'], 20_000),
      project('edge', ['test/edge/**/*.test.ts'], 60_000),
      project('scenarios', ['test/scenarios/**/*.test.ts'], 120_000),
      project('e2e', ['test/{e2e,cli,agent}/**/*.test.ts'], 300_000),
    ],
  },
})
