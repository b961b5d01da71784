/** `npm run bench -- NAME [--json]`: figures of this machine, ratios of one run. Not part of the tests. */
import { parseArgs } from 'node:util'
import { benchMemory } from './memory.ts'
import { benchPipeline } from './pipeline.ts'
import { benchStep } from './step.ts'

/** --only and --profile are for `step`. */
const options = { json: { type: 'boolean' }, only: { type: 'string' }, profile: { type: 'boolean' } } as const
type Options = ReturnType<typeof parseArgs<{ options: typeof options }>>['values']

const benches: Readonly<Record<string, (options: Options) => Promise<Record<string, number | string>>>> = {
  memory: benchMemory,
  pipeline: benchPipeline,
  step: benchStep,
}

const { values, positionals } = parseArgs({ options, allowPositionals: true })
const bench = benches[positionals[0] ?? '']
if (bench === undefined) {
  process.stderr.write(`give one of: ${Object.keys(benches).join(', ')}\n`)
  process.exit(2)
}
const figures = await bench(values)
if (values.json === true) process.stdout.write(`${JSON.stringify({ event: 'result', ...figures })}\n`)
else
  for (const [name, value] of Object.entries(figures))
    process.stdout.write(`${name}: ${typeof value === 'number' ? Number(value.toPrecision(4)) : value}\n`)
process.exit(0)
