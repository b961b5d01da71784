/** Commands about the agent itself: trouble, identity, end. */
import { join } from 'node:path'
import { backUpIdentity, restoreIdentity } from '../../edge/identity/backup.ts'
import { askReset } from '../../edge/store/reset.ts'
import type { AgentParts } from '../agent-parts.ts'
import { writeDiagnostics } from '../diagnostics.ts'
import type { HandlersOf } from './handlers.ts'

export function homeCommands(
  parts: AgentParts,
): HandlersOf<'diagnostics' | 'backupIdentity' | 'restoreIdentity' | 'reset' | 'shutdown'> {
  const identity = join(parts.home, 'identity.json')
  return {
    diagnostics: async ({ to }) => ({ file: await writeDiagnostics(parts, to) }),
    backupIdentity: async ({ to }) => {
      await backUpIdentity(identity, to)
      return null
    },
    restoreIdentity: async ({ from }) => {
      const peer = await restoreIdentity(identity, from)
      parts.log('info', 'an identity was restored; it holds from the next start on', { peer })
      return null
    },
    reset: async () => {
      await askReset(parts.home)
      return null
    },
    shutdown: () => {
      parts.shutdown()
      return Promise.resolve(null)
    },
  }
}
