/** `rookery://` links that the system hands us. A link never joins anything: it is shown, and the person is asked. */
import { reportOf } from '../../../shared/errors.ts'
import { parseInvite } from '../../../shared/invite.ts'
import type { Millis } from '../../../shared/units.ts'

export const linkScheme = 'rookery'

/** The first link among a program's arguments. */
export const linkAmong = (argv: readonly string[]): string | undefined =>
  argv.find((argument) => argument.toLowerCase().startsWith(`${linkScheme}:`))

export type ReadLink =
  | { readonly type: 'invite'; readonly invite: string }
  | { readonly type: 'refused'; readonly sentence: string }

/** Strict: a whole, undamaged invite that is still good, or one sentence that says why not. */
export function readLink(link: string, nowMs: Millis): ReadLink {
  try {
    parseInvite(link, nowMs)
    return { type: 'invite', invite: link.trim() }
  } catch (thrown) {
    return { type: 'refused', sentence: reportOf(thrown).message }
  }
}
