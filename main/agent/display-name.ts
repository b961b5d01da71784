/** What this PC is called. */
import { hostname } from 'node:os'
import type { Settings } from '../../shared/settings.ts'

/** What other members see of us. */
export function displayNameOf(settings: Settings): string {
  return (settings.displayName === '' ? hostname() : settings.displayName).slice(0, 60)
}
