/** `npm run bench -- NAME [--json]`: figures of this machine, ratios of one run. Not part of the tests. */
import { parseArgs } from 'node:util'
import { reportOf } from '../../shared/errors.ts'
import { benchAverage } from './average.ts'
import { benchCodec } from './codec.ts'
import { benchForecast } from './forecast.ts'
import { benchGpu } from './gpu.ts'
import { benchMemory } from './memory.ts'
import { benchPipeline } from './pipeline.ts'
import { benchPlan } from './plan.ts'
import { benchSimulate } from './simulate.ts'
import { benchStep } from './step.ts'
import { benchWire } from './wire.ts'

interface Options {
  /** The parts that were asked for, where a bench has any. */
  readonly only: readonly string[]
  /** Of `step`: where its time goes. */
  readonly profile: boolean
}

const benches: Readonly<Record<string, (options: Options) => Promise<Record<string, number | string>>>> = {
  average: ({ only }) => benchAverage(only),
  codec: ({ only }) => benchCodec(only),
  forecast: ({ only }) => benchForecast(only),
  gpu: benchGpu,
  memory: benchMemory,
  pipeline: ({ only }) => benchPipeline(only),
  plan: ({ only }) => benchPlan(only),
  simulate: ({ only }) => benchSimulate(only),
  step: ({ only: [only], profile }) => benchStep({ ...(only === undefined ? {} : { only }), profile }),
  wire: benchWire,
}

const usage = `npm run bench -- NAME [--only PART]... [--json]

NAME is one of: ${Object.keys(benches).join(', ')}.
--only PART   that part alone, for example: pipeline --only busy, average --only 4x20
--profile     of step: where its time goes
--json        one line of JSON
`

function refuse(reason: string): never {
  process.stderr.write(`${reason}\n\n${usage}`)
  process.exit(2)
}

function readArguments() {
  try {
    return parseArgs({
      options: {
        help: { type: 'boolean' },
        json: { type: 'boolean' },
        only: { type: 'string', multiple: true, default: [] },
        profile: { type: 'boolean', default: false },
      },
      allowPositionals: true,
    })
  } catch (error) {
    return refuse(reportOf(error).message)
  }
}

const { values, positionals } = readArguments()
if (values.help === true) {
  process.stdout.write(usage)
  process.exit(0)
}
const [name = ''] = positionals
const bench = benches[name] ?? refuse(name === '' ? 'Which bench?' : `There is no bench called ${name}.`)
const figures = await bench(values).catch((error: unknown) => {
  const { kind, message } = reportOf(error)
  process.stderr.write(`${message}\n`)
  process.exit(kind === 'bad-input' ? 2 : 1)
})
if (values.json === true) process.stdout.write(`${JSON.stringify({ event: 'result', ...figures })}\n`)
else
  for (const [name, value] of Object.entries(figures))
    process.stdout.write(`${name}: ${typeof value === 'number' ? Number(value.toPrecision(4)) : value}\n`)
process.exit(0)
