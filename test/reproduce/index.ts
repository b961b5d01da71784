/** `npm run reproduce -- NAME [--json]`: a paper's table beside ours. The exact parts are among the tests. */
import { parseArgs } from 'node:util'
import { reproduceDtfm } from './dtfm/reproduce.ts'
import { reproduceClusters } from './ravnest/clusters.ts'
import { reproduceMemory } from './ravnest/memory.ts'
import { reproduceRuntimeModel } from './runtime-model/reproduce.ts'
import { reproduceStragglers } from './stragglers/reproduce.ts'
import { holds, inText, type Reproduction } from './table.ts'

const papers: Readonly<Record<string, { readonly what: string; readonly run: () => Promise<Reproduction> }>> =
  {
    dtfm: { what: 'five networks of 64 devices and the cost of their best layout', run: reproduceDtfm },
    'ravnest-clusters': { what: 'clusters that all hold the model, evenly fast', run: reproduceClusters },
    'ravnest-memory': { what: 'memory of a peer with 1, 2, 3 stages', run: reproduceMemory },
    'runtime-model': { what: 'all-reduce against decentralised averaging', run: reproduceRuntimeModel },
    stragglers: { what: 'the slowest of many workers, and backup workers', run: reproduceStragglers },
  }

const list = Object.entries(papers)
  .map(([name, { what }]) => `  ${name.padEnd(18)}${what}`)
  .join('\n')
const usage = `npm run reproduce -- NAME [--json]

Prints a paper's figures beside ours. NAME is one of:
${list}

--json  one line for scripts
--help  this text
Exit code: 0 every figure holds, 1 one does not, 2 bad input.
`

function readArguments() {
  try {
    return parseArgs({
      options: { json: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
      allowPositionals: true,
    })
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(2)
  }
}

const { values, positionals } = readArguments()
if (values.help) {
  process.stdout.write(usage)
  process.exit(0)
}
const [name = '', ...more] = positionals
const paper = more.length === 0 && Object.hasOwn(papers, name) ? papers[name] : undefined
if (paper === undefined) {
  const names = Object.keys(papers).join(', ')
  process.stderr.write(
    `${name === '' ? 'no name' : `"${positionals.join(' ')}"`} is not one of: ${names}\n${list}\n`,
  )
  process.exit(2)
}
const reproduction = await paper.run()
const broken = reproduction.rows.filter((row) => holds(row) === false)
if (values.json) {
  const rows = reproduction.rows.map((row) => ({ ...row, holds: holds(row) ?? null }))
  process.stdout.write(`${JSON.stringify({ event: 'result', name, ...reproduction, rows })}\n`)
} else process.stdout.write(`${inText(reproduction)}\n`)
process.exitCode = broken.length === 0 ? 0 : 1
