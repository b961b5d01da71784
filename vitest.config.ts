import { join } from 'node:path'
import { softwareGpu } from './test/measures/software-gpu.ts'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Programs that tests start find their code compiled: without it two fifths of their processor time is compiling.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/compiled')

/** A project per room: pure code fast, real adapters with time to start, whole agents last. */
const project = (name: string, include: string[], testTimeout: number) => ({
  test: { name, include, environment: 'node' as const, testTimeout, hookTimeout: testTimeout },
})

/** The app as people use it, in a browser: built first, on Electron or on its stand-in. */
const desktop = {
  test: {
    ...project('desktop', ['test/desktop/**/*.spec.ts'], 180_000).test,
    globalSetup: ['test/desktop/harness/set-up.ts'],
    fileParallelism: false,
  },
}

/** One process for many files: pure code keeps nothing between two of them, and loading it anew takes longer than most. */
const core = {
  test: {
    ...project('core', ['test/{core,shared,desktop,simulation,reproduce}/**/*.test.ts'], 20_000).test,
    isolate: false,
  },
}

/** They take longest. Begun last, as without times of an earlier run they may be, each would end alone on one worker. */
const longest = ['scenarios/faults.test.ts', 'window/pages.test.ts', 'e2e/demo.test.ts']

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const usual = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) => longest.some((name) => moduleId.endsWith(name))
    return [...usual.filter(isLong), ...usual.filter((file) => !isLong(file))]
  }
}

export default defineConfig({
  test: {
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      core,
      { test: { ...project('edge', ['test/edge/**/*.test.ts'], 60_000).test, env: softwareGpu() } },
      project('renderer', ['test/renderer/**/*.test.ts'], 120_000),
      project('scenarios', ['test/scenarios/**/*.test.ts'], 120_000),
      project('e2e', ['test/{e2e,cli,agent}/**/*.test.ts'], 300_000),
      desktop,
    ],
  },
})
