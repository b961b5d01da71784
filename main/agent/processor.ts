/** What this program takes of the processor. */
import type { Millis } from '../../shared/units.ts'

/** Of all its threads, so far. */
export function processorMs(): Millis {
  const { user, system } = process.cpuUsage() // microseconds
  return (user + system) / 1000
}
