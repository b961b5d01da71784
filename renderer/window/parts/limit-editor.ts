/** What every editor of a limit is given. */
import type { Limits } from '../../../shared/limits.ts'

export interface EditorProps {
  readonly set: Limits
  readonly change: (part: Partial<Limits>) => void
}
