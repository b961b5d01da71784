/** The settings of one agent: one schema for its file, the command line and the window. */
import { z } from 'zod'
import { InvalidInputError } from './errors.ts'
import { limits } from './limits.ts'

export const settings = z.strictObject({
  version: z.literal(2).default(2),
  /** What other members see. Empty: the machine's host name. */
  displayName: z.string().max(60).default(''),
  limits: limits.prefault({}),
  network: z
    .strictObject({
      /** TCP port to listen on; 0: any free one. */
      port: z.int().min(0).max(65_535).default(0),
      /** Listen on this address; `0.0.0.0` is every interface. */
      address: z.string().max(64).default('0.0.0.0'),
      /** Find peers on the local network by multicast DNS. */
      localDiscovery: z.boolean().default(true),
    })
    .prefault({}),
  engine: z
    .strictObject({
      /** `auto` takes the first of TensorFlow.js's that loads; `kernels` are Rookery's own. */
      backend: z.enum(['auto', 'node-gpu', 'node', 'webgpu', 'kernels', 'wasm', 'cpu']).default('auto'),
      /** Of the processor's cores, how many compute on Rookery's kernels; 0: all but one, which the rest of the PC keeps. */
      threads: z.int().min(0).max(64).default(0),
    })
    .prefault({}),
})
export type Settings = z.infer<typeof settings>

/** Version n of the file to version n+1. Index 0 takes version 0: a file from before versions were written. */
const migrations: readonly ((old: Record<string, unknown>) => Record<string, unknown>)[] = [
  (old) => ({ ...old, version: 1 }),
  // Version 2 has more limits; what is absent takes its default.
  (old) => ({ ...old, version: 2 }),
]

/** Settings from a file of any known version. @throws InvalidInputError naming the first field that is wrong */
export function readSettings(raw: unknown): Settings {
  let file: Record<string, unknown> = typeof raw === 'object' && raw !== null ? { ...raw } : {}
  const from = typeof file['version'] === 'number' ? file['version'] : 0
  for (const migrate of migrations.slice(from)) file = migrate(file)
  const parsed = settings.safeParse(file)
  if (parsed.success) return parsed.data
  throw new InvalidInputError(`settings: ${describeIssue(parsed.error)}`)
}

/** The first fault of a schema check in one clause: where, and what was expected. */
export function describeIssue(error: z.ZodError): string {
  const issue = error.issues[0]
  if (issue === undefined) return 'not valid'
  const where = issue.path.map(String).join('.')
  return where === '' ? issue.message : `${where}: ${issue.message}`
}
