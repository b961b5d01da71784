/** One clear sentence out of a schema's refusal of a graph, naming the layer as its author wrote it. */
import type { z } from 'zod'

type Issue = z.core.$ZodIssue

/** What is wrong first: the layer's path, the field, and what was expected. Reads nesting that was bounded before. */
export function describeGraphIssue(raw: unknown, error: z.ZodError): string {
  const found = deepest(raw, error.issues[0], [])
  if (found === undefined) return 'it is not valid'
  const { layers, rest } = splitPath(raw, found.path)
  const where = [
    ...(layers === '' ? [] : [`layer "${layers}"`]),
    ...(rest.length === 0 ? [] : [rest.join('.')]),
  ]
  return [...where, found.message].join(': ')
}

interface Found {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** Follow a union's refusal into the member that the author meant: the one of the layer's own type. */
function deepest(raw: unknown, issue: Issue | undefined, above: readonly PropertyKey[]): Found | undefined {
  if (issue === undefined) return undefined
  const path = [...above, ...issue.path]
  if (issue.code !== 'invalid_union') return { path, message: issue.message }
  const meant = issue.errors.find((issues) => issues.length > 0 && !issues.some(isAboutType))
  if (meant !== undefined) return deepest(raw, meant[0], path)
  const type = valueAt(raw, [...path, 'type'])
  if (issue.errors.length === 0) return { path, message: issue.message }
  return typeof type === 'string'
    ? { path, message: `it has the unknown type "${type.slice(0, 64)}"` }
    : { path, message: 'it needs a "type"' }
}

function isAboutType(issue: Issue): boolean {
  return issue.path.length === 0 || (issue.path.length === 1 && issue.path[0] === 'type')
}

function valueAt(raw: unknown, path: readonly PropertyKey[]): unknown {
  let value = raw
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = (value as Record<PropertyKey, unknown>)[key]
  }
  return value
}

/** `layers.3.body.0.units` as the names of the layers on the way and what is left of the path. */
function splitPath(raw: unknown, path: readonly PropertyKey[]): { layers: string; rest: readonly string[] } {
  let layers = ''
  let rest = 0
  for (const [index, key] of path.entries()) {
    const run = path[index - 1]
    if (typeof key !== 'number' || (run !== 'layers' && run !== 'body' && run !== 'shortcut')) continue
    const name = valueAt(raw, [...path.slice(0, index + 1), 'name'])
    const label = typeof name === 'string' ? name.slice(0, 64) : `number ${key + 1}`
    layers += run === 'layers' ? label : `/${run}/${label}`
    rest = index + 1
  }
  return { layers, rest: path.slice(rest).map(String) }
}
