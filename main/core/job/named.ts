/** The work itself knows PCs by their keys; what a person reads says their names. */
import type { MemberView } from '../../../shared/messages/control.ts'

/** A key of libp2p is never shorter; anything else could be a word or a name. */
const key = /^(12D3KooW|Qm)\w{38,}$/

/** The sentence with names in place of keys; a PC that nobody told the name of is "another PC". */
export function withNames(text: string, members: Iterable<Pick<MemberView, 'peer' | 'displayName'>>): string {
  const names = new Map([...members].map(({ peer, displayName }) => [peer, displayName]))
  return text.replaceAll(/[^\s,]+/g, (word) => names.get(word) ?? (key.test(word) ? 'another PC' : word))
}
