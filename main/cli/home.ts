/** The home folder of the agent that a command means. */
import envPaths from 'env-paths'
import { resolve } from 'node:path'

/** `--home`, else `ROOKERY_HOME`, else the platform's folder for a program's data. */
export function homeFolder(given: string | undefined): string {
  const chosen = given ?? process.env['ROOKERY_HOME'] ?? ''
  return chosen === '' ? envPaths('rookery', { suffix: '' }).data : resolve(chosen)
}
