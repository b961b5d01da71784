/** Before the specs: choose what they run on, say so, and build the app. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { sayDistribution } from './distribution.ts'

export default function setUp(): void {
  sayDistribution()
  const build = join(import.meta.dirname, '../../../main/desktop/build.ts')
  execFileSync(process.execPath, [build], { stdio: 'inherit' })
}
