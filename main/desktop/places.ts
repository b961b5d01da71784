/** Where the desktop finds what it needs: in a checkout, or beside itself once it is packaged. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import envPaths from 'env-paths'

export interface Places {
  /** The agent's home folder: the same as the command line's, so that both are faces of one agent. */
  readonly home: string
  /** What Electron itself keeps; inside the home, so that one home has one desktop. */
  readonly userData: string
  readonly agentEntry: string
  /** The Node that runs the agent. */
  readonly runtime: string
  readonly window: string
  readonly preload: string
  readonly icons: string
  readonly logs: string
}

/** Of Electron's `app` and `process`, what decides. */
export interface Surroundings {
  readonly isPackaged: boolean
  readonly resourcesPath: string
  /** The folder of the built main process. */
  readonly dist: string
  readonly platform: NodeJS.Platform
  readonly environment: Readonly<Record<string, string | undefined>>
}

export function findPlaces({ isPackaged, resourcesPath, dist, platform, environment }: Surroundings): Places {
  const chosen = environment['ROOKERY_HOME'] ?? ''
  const home = chosen === '' ? envPaths('rookery', { suffix: '' }).data : resolve(chosen)
  const program = isPackaged ? join(resourcesPath, 'agent') : resolve(dist, '../../..')
  const node = platform === 'win32' ? 'node.exe' : 'node'
  return {
    home,
    userData: join(home, 'desktop'),
    agentEntry: join(program, 'main/agent/index.ts'),
    runtime: isPackaged ? join(program, 'runtime', node) : installedRuntime(program, node),
    window: join(dist, 'window'),
    preload: join(dist, 'preload.cjs'),
    icons: join(dist, 'icons'),
    logs: join(home, 'logs'),
  }
}

/** In a checkout, Node comes with the dependencies, or the person has it. */
function installedRuntime(root: string, node: string): string {
  const installed = join(root, 'node_modules/.bin', node)
  return existsSync(installed) ? installed : node
}
