/** Which of the programs that an owner named run now. */

/** Names are compared without case, folder and `.exe`: people write what they see in a menu or a task list. */
const bare = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replace(/^.*[/\\]/, '')
    .replace(/\.(exe|app)$/, '')

/** The names of `wanted` that run, as the owner wrote them. */
export function programsThatRun(wanted: readonly string[], running: Iterable<string>): readonly string[] {
  const names = new Set<string>()
  for (const name of running) names.add(bare(name))
  return wanted.filter((name) => names.has(bare(name)))
}
