/** `npm run bench -- NAME [--json]`: figures of this machine, ratios of one run. Not part of the tests. */
import { parseArgs } from 'node:util'
import { InvalidInputError } from '../../shared/errors.ts'
import { benchGpu } from './gpu.ts'
import { benchMemory } from './memory.ts'
import { benchPipeline } from './pipeline.ts'
import { benchStep } from './step.ts'

const benches: Readonly<Record<string, () => Promise<Record<string, number>>>> = {
  gpu: benchGpu,
  memory: benchMemory,
  pipeline: benchPipeline,
  step: benchStep,
}

const { values, positionals } = parseArgs({ options: { json: { type: 'boolean' } }, allowPositionals: true })
const bench = benches[positionals[0] ?? '']
if (bench === undefined) {
  process.stderr.write(`give one of: ${Object.keys(benches).join(', ')}\n`)
  process.exit(2)
}
const figures = await bench().catch((thrown: unknown) => {
  if (!(thrown instanceof InvalidInputError)) throw thrown
  process.stderr.write(`${thrown.message}\n`)
  process.exit(2)
})
if (values.json === true) process.stdout.write(`${JSON.stringify({ event: 'result', ...figures })}\n`)
else
  for (const [name, value] of Object.entries(figures))
    process.stdout.write(`${name}: ${Number(value.toPrecision(4))}\n`)
process.exit(0)
