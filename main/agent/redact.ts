/** Takes out of a text what must not leave this PC: keys, invites, secrets, addresses, and the names of people. */

/** Names of this very PC and its job. */
export interface PrivateNames {
  /** The user's own folder, and the agent's: their paths become `~` and `<home>`. */
  readonly folders: readonly (readonly [path: string, shown: string])[]
  /** Host name, user name, display names of members; each becomes the word beside it. */
  readonly names: readonly (readonly [name: string, shown: string])[]
}

/** A name of one or two letters is in every word; it is taken out only where it stands alone. */
const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** In JSON, a Windows path has its backslashes doubled. */
const spellings = (path: string): readonly string[] => [path, JSON.stringify(path).slice(1, -1)]

/** The order matters: what holds others comes first. */
const patterns: readonly (readonly [RegExp, string])[] = [
  [/rookery:\/\/join\/[A-Za-z0-9_-]*/g, '<invite>'],
  [/(\/(?:ip4|ip6|ip6zone|dns|dns4|dns6|dnsaddr)\/[^\s"',\]}]+)/g, '<address>'],
  [/\b(?:12D3Koo|Qm)[1-9A-HJ-NP-Za-km-z]{20,}/g, '<peer>'],
  [/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g, '<address>'],
  [/(?<![\w:.])(?:[0-9a-fA-F]{1,4}:){3,7}(?::?[0-9a-fA-F]{1,4})+(?![\w:])/g, '<address>'],
  [/(?<![\w:.])(?:[0-9a-fA-F]{1,4}:){1,6}:(?:[0-9a-fA-F]{1,4}:?){0,6}(?![\w:])/g, '<address>'],
  [/\b[0-9a-fA-F]{32,}\b/g, '<hex>'],
  [/(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{48,}={0,2}/g, '<secret>'],
  [/((?:\/home|\/Users)\/)[^/\s"']+/g, '$1<user>'],
  [/([A-Za-z]:(?:\\\\?|\/)Users(?:\\\\?|\/))[^\\/\s"']+/gi, '$1<user>'],
]

/** The text without anything private in it. */
export function redact(text: string, { folders, names }: PrivateNames): string {
  let safe = text
  const byLength = folders
    .filter(([path]) => path.length > 1)
    .toSorted(([one], [other]) => other.length - one.length)
  for (const [path, shown] of byLength)
    for (const spelling of spellings(path)) safe = safe.replaceAll(spelling, shown)
  for (const [pattern, shown] of patterns) safe = safe.replaceAll(pattern, shown)
  for (const [name, shown] of names) {
    if (name.trim() === '') continue
    const alone = new RegExp(`(?<![\\p{L}\\p{N}])${escaped(name)}(?![\\p{L}\\p{N}])`, 'giu')
    safe = safe.replaceAll(alone, shown)
  }
  return safe
}
