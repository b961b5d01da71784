/** Schemas for files that people write: what is wrong says what to write instead. */
import { z } from 'zod'

interface Fault {
  readonly input?: unknown
}

const longest = 40

/** `not -1`, `not "4G"`, or that nothing is there. */
function insteadOf(input: unknown): string {
  if (input === undefined) return 'it is missing'
  const text = typeof input === 'number' ? String(input) : JSON.stringify(input)
  return `not ${text.length > longest ? `${text.slice(0, longest)}…` : text}`
}

/** A number in a range; JSON’s 1e999 is none. @param unit - for example `bytes` */
export function amountOf(unit: string, most: number) {
  const error = ({ input }: Fault) => `give ${unit} from 0 to ${most}, ${insteadOf(input)}`
  return z.number({ error }).min(0, { error }).max(most, { error })
}

/** @param what - for example `samples` */
export function countOf(what: string, most: number) {
  const error = ({ input }: Fault) => `give a whole number of ${what} from 1 to ${most}, ${insteadOf(input)}`
  return z.int({ error }).min(1, { error }).max(most, { error })
}

/** A name of at most so many characters. */
export function nameOf(what: string, most: number) {
  const error = ({ input }: Fault) => `give ${what} of 1 to ${most} characters, ${insteadOf(input)}`
  return z.string({ error }).min(1, { error }).max(most, { error })
}

/** A list of at least so many; `wanted` says what belongs in it. */
export function listOf<T extends z.ZodType>(
  item: T,
  { wanted, least = 0, most }: { readonly wanted: string; readonly least?: number; readonly most: number },
) {
  return z
    .array(item, { error: ({ input }) => `give ${wanted}, ${insteadOf(input)}` })
    .min(least, { error: `give ${wanted}; the list is empty` })
    .max(most, { error: ({ input }) => `give at most ${most}, not ${(input as readonly unknown[]).length}` })
}

/** Exactly these fields. @param what - for example `a PC` */
export function fieldsOf<T extends z.ZodRawShape>(what: string, shape: T) {
  const known = Object.keys(shape).join(', ')
  return z.strictObject(shape, {
    error: (fault) => {
      if (fault.code === 'unrecognized_keys')
        return `${what} has no field "${String(fault.keys[0]).slice(0, longest)}"; its fields are ${known}`
      return `give ${what} with the fields ${known}, ${insteadOf(fault.input)}`
    },
  })
}
