/** The agent's program: read the arguments, start, say where the control socket is, and end in order. */
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { InvalidInputError, reportOf } from '../../shared/errors.ts'
import { describeIssue, settings as settingsSchema, type Settings } from '../../shared/settings.ts'
import { second } from '../../shared/units.ts'
import { openHome } from '../edge/store/home.ts'
import { loadSettings } from '../edge/store/settings-file.ts'
import { startAgent } from './agent.ts'
import { openLogFile } from './log-file.ts'

// Every micro-batch is an ArrayBuffer outside V8's heap. By default each 64 MB of them forces a full collection:
// on a pipeline of small stages that was a fifth of the agent's time.
setFlagsFromString('--external-memory-accounted-in-global-limit')

/** Longer than any orderly end takes; what still hangs then is ended. */
const endWithinMs = 20 * second

const options = {
  home: { type: 'string' },
  memory: { type: 'string' },
  'display-name': { type: 'string' },
  address: { type: 'string' },
  port: { type: 'string' },
  backend: { type: 'string' },
  threads: { type: 'string' },
  'no-local-discovery': { type: 'boolean' },
  attached: { type: 'boolean' },
  rejoin: { type: 'boolean' },
} as const

type Flags = ReturnType<typeof readFlags>

function readFlags() {
  try {
    return parseArgs({ options, strict: true }).values
  } catch (error) {
    throw new InvalidInputError(error instanceof Error ? error.message : String(error))
  }
}

/** The settings file, with what the flags say instead. @throws InvalidInputError */
async function settingsOf(home: string, flags: Flags): Promise<Settings> {
  const { limits, network, engine, ...rest } = await loadSettings(home)
  const parsed = settingsSchema.safeParse({
    ...rest,
    displayName: flags['display-name'] ?? rest.displayName,
    limits: { ...limits, memoryBytes: Number(flags.memory ?? limits.memoryBytes) },
    network: {
      port: Number(flags.port ?? network.port),
      address: flags.address ?? network.address,
      localDiscovery: flags['no-local-discovery'] === true ? false : network.localDiscovery,
    },
    engine: {
      backend: flags.backend ?? engine.backend,
      threads: Number(flags.threads ?? engine.threads),
    },
  })
  if (!parsed.success) throw new InvalidInputError(`settings: ${describeIssue(parsed.error)}`)
  return parsed.data
}

async function main(): Promise<void> {
  const flags = readFlags()
  const home = await openHome(flags.home)
  const { log, file } = openLogFile(home)
  process.on('unhandledRejection', (error) => {
    log('error', 'unhandled rejection', { stack: error instanceof Error ? error.stack : String(error) })
  })
  const agent = await startAgent({
    home,
    settings: await settingsOf(home, flags),
    log,
    rejoin: flags.rejoin === true,
  })
  // Ctrl-C in a terminal reaches us, too; an attached agent's face ends it in order.
  process.on('SIGINT', flags.attached === true ? () => undefined : agent.shutdown)
  process.on('SIGTERM', agent.shutdown)
  if (flags.attached === true) {
    // Whoever started us holds the other end: when it is gone, however it went, so are we.
    process.stdin.on('end', agent.shutdown).on('error', agent.shutdown).resume()
  }
  process.stdout.write(`${JSON.stringify({ event: 'ready', socket: agent.socket, log: file })}\n`)
  await agent.ended
}

function fail(error: unknown): void {
  const { kind, message } = reportOf(error)
  process.stderr.write(`${message}\n`)
  process.exit(kind === 'bad-input' || kind === 'out-of-resource' ? 2 : 1)
}

main().then(() => {
  // Libraries may hold timers; nothing of ours runs any more.
  setTimeout(() => process.exit(0), second / 5)
}, fail)
for (const signal of process.argv.includes('--attached') ? ['SIGTERM'] : ['SIGINT', 'SIGTERM'])
  process.on(signal, () => setTimeout(() => process.exit(1), endWithinMs).unref())
