/** Commands about what this PC lends. */
import type { AgentParts } from '../agent-parts.ts'
import { changedLimits, saveLimits } from '../limits/change-limits.ts'
import type { HandlersOf } from './handlers.ts'

export function limitCommands(parts: AgentParts): HandlersOf<'limits' | 'setLimits' | 'power'> {
  const { keeper } = parts.lending
  let last: Promise<unknown> = Promise.resolve()
  return {
    limits: () => Promise.resolve(parts.settings.limits),
    setLimits(change) {
      const set = last.then(async () => {
        // Checked against what is in force, flags of the command line included; the file keeps its own.
        const limits = changedLimits(parts.settings.limits, change)
        await saveLimits(parts.home, change)
        parts.settings = { ...parts.settings, limits }
        parts.swarm.setCaps(limits)
        keeper.apply()
        parts.changes.ring()
        return limits
      })
      last = set.catch(() => undefined)
      return set
    },
    power(told) {
      keeper.tell(told)
      return Promise.resolve(null)
    },
  }
}
