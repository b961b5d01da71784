/** `npm run bench -- NAME [--json]`: figures of this machine, ratios of one run. Not part of the tests. */
import { parseArgs } from 'node:util'
import { reportOf } from '../../shared/errors.ts'
import { benchAverage } from './average.ts'
import { benchCodec } from './codec.ts'
import { benchMemory } from './memory.ts'
import { benchPipeline } from './pipeline.ts'
import { benchStep } from './step.ts'
import { benchWire } from './wire.ts'

/** `only`: the parts that were asked for, where a bench has any. */
type Bench = (only: readonly string[]) => Promise<Record<string, number>>

const benches: Readonly<Record<string, Bench>> = {
  average: benchAverage,
  codec: benchCodec,
  memory: benchMemory,
  pipeline: benchPipeline,
  step: benchStep,
  wire: benchWire,
}

const { values, positionals } = parseArgs({
  options: { json: { type: 'boolean' }, only: { type: 'string', multiple: true } },
  allowPositionals: true,
})
const bench = benches[positionals[0] ?? '']
if (bench === undefined) {
  process.stderr.write(`give one of: ${Object.keys(benches).join(', ')}\n`)
  process.exit(2)
}
const figures = await bench(values.only ?? []).catch((error: unknown) => {
  const { kind, message } = reportOf(error)
  process.stderr.write(`${message}\n`)
  process.exit(kind === 'bad-input' ? 2 : 1)
})
if (values.json === true) process.stdout.write(`${JSON.stringify({ event: 'result', ...figures })}\n`)
else
  for (const [name, value] of Object.entries(figures))
    process.stdout.write(`${name}: ${Number(value.toPrecision(4))}\n`)
process.exit(0)
