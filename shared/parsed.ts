/** A value from outside through its schema, or one sentence of what is wrong with it. */
import type { z } from 'zod'
import { InvalidInputError } from './errors.ts'
import { describeIssue } from './settings.ts'

/** @param what - names the value for its author, for example `pool` @throws InvalidInputError */
export function parsed<T>(schema: z.ZodType<T>, what: string, raw: unknown): T {
  const result = schema.safeParse(raw)
  if (result.success) return result.data
  throw new InvalidInputError(`${what}: ${describeIssue(result.error)}`)
}
