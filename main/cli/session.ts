/** The agent of a home folder for the time of one command: the one that runs, or a child of ours. */
import type { Command } from 'commander'
import { connectAgent } from '../edge/control/client.ts'
import type { AgentClient } from '../edge/control/client.ts'
import { AgentNotRunningError } from '../../shared/errors.ts'
import { startAgent } from './agent-process.ts'
import type { AgentOptions, AgentProcess } from './agent-process.ts'
import { parseBytes, parseWhole } from './context.ts'
import type { HomeOptions } from './context.ts'
import { homeFolder } from './home.ts'

export interface Session {
  readonly client: AgentClient
  /** Undefined when the agent ran before and stays after this command. */
  readonly own: AgentProcess | undefined
  /** End our own agent in order; leave another alone. */
  close(): Promise<void>
}

/** The command-line form of the agent's settings. */
export interface AgentFlags extends HomeOptions {
  readonly memory?: number
  readonly name?: string
  readonly address?: string
  readonly port?: number
  readonly backend?: string
  readonly threads?: number
  readonly localDiscovery: boolean
}

export function addAgentFlags(command: Command): Command {
  return command
    .option(
      '--memory <size>',
      'tensor memory to lend, for example 2GiB (default: half of what is free)',
      parseBytes,
    )
    .option('--name <name>', 'what other peers see (default: this machine’s host name)')
    .option('--address <ip>', 'listen on this address only')
    .option('--port <number>', 'listen on this TCP port', parseWhole('--port', { from: 0, to: 65_535 }))
    .option('--backend <name>', 'auto, node-gpu, node, webgpu, kernels, wasm or cpu')
    .option(
      '--threads <number>',
      'cores that compute (default: all but one)',
      parseWhole('--threads', { from: 0, to: 64 }),
    )
    .option('--no-local-discovery', 'do not look for peers on the local network')
}

export function agentOptionsOf(flags: AgentFlags): AgentOptions {
  return {
    home: homeFolder(flags.home),
    ...(flags.memory === undefined ? {} : { memoryBytes: flags.memory }),
    ...(flags.name === undefined ? {} : { displayName: flags.name }),
    ...(flags.address === undefined ? {} : { address: flags.address }),
    ...(flags.port === undefined ? {} : { port: flags.port }),
    ...(flags.backend === undefined ? {} : { backend: flags.backend }),
    ...(flags.threads === undefined ? {} : { threads: flags.threads }),
    localDiscovery: flags.localDiscovery,
  }
}

/** Connect to the agent that runs on this home, or start one. */
export async function openSession(entry: string, options: AgentOptions): Promise<Session> {
  try {
    const client = await connectAgent(options.home)
    return {
      client,
      own: undefined,
      close() {
        client.close()
        return Promise.resolve()
      },
    }
  } catch (thrown) {
    if (!(thrown instanceof AgentNotRunningError)) throw thrown
    return startSession(entry, options)
  }
}

/** Ask the agent that runs, or one of our own for the time of the question. */
export async function withAgent<T>(
  entry: string,
  options: AgentOptions,
  ask: (client: AgentClient) => Promise<T>,
): Promise<T> {
  const session = await openSession(entry, options)
  try {
    return await ask(session.client)
  } finally {
    await session.close()
  }
}

/** Start an agent of our own and connect to it. */
export async function startSession(
  entry: string,
  options: AgentOptions,
  hear?: (line: string) => void,
): Promise<Session> {
  const own = await startAgent(entry, options, hear)
  const client = await connectAgent(options.home)
  return {
    client,
    own,
    async close() {
      await endAgent(client, own)
    },
  }
}

/** In order over its socket; by its stdin when it does not answer there. */
export async function endAgent(client: AgentClient, agent: AgentProcess): Promise<void> {
  try {
    await client.command('shutdown', {})
    await agent.gone()
  } catch {
    await agent.stop()
  } finally {
    client.close()
  }
}
