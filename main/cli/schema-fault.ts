/** The first fault of a file in one clause that names the field, also inside the branches of a union. */
import type { z } from 'zod'

type Issue = z.core.$ZodIssue

const rank = (issue: Issue): number => issue.path.length

/** The branch that got furthest is the one the user meant. */
function meantIssue(issues: readonly Issue[]): Issue | undefined {
  return issues.toSorted((a, b) => rank(b) - rank(a))[0]
}

function spread(
  issue: Issue,
  path: readonly PropertyKey[],
): { path: readonly PropertyKey[]; message: string } {
  const here = [...path, ...issue.path]
  if (issue.code === 'invalid_union') {
    const branches = issue.errors.filter((branch) => branch.length > 0)
    const deep = branches.filter((branch) => branch.some(({ path: inner }) => inner.length > 0))
    const meant = meantIssue(deep[0] ?? [])
    if (meant !== undefined) return spread(deep[0]?.[0] ?? meant, here)
    const messages = branches.map(
      (branch) => branch[0]?.message.replace(/^Invalid input: expected /, '') ?? '',
    )
    if (messages.length > 0) return { path: here, message: `expected ${messages.join(' or ')}` }
  }
  return { path: here, message: issue.message.replace(/^Invalid input: /, '') }
}

/** `target.updates: expected number, received string` */
export function schemaFault(error: z.ZodError): string {
  const first = error.issues[0]
  if (first === undefined) return 'not valid'
  const { path, message } = spread(first, [])
  return path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`
}
