/** A pool on this machine: real agents as processes of their own, joined by an invite, gone when the job has ended. */
import { availableParallelism } from 'node:os'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connectAgent } from '../../edge/control/client.ts'
import type { JobFile } from '../../../shared/job/spec.ts'
import type { Bytes } from '../../../shared/units.ts'
import { startAgent } from '../agent-process.ts'
import type { AgentProcess } from '../agent-process.ts'
import { AgentEndedError, JobFailedError } from '../errors.ts'
import { followJob } from '../follow.ts'
import type { EndedJob } from '../follow.ts'
import { endAgent } from '../session.ts'
import type { Terminal } from '../terminal.ts'

export interface DemoPeer {
  readonly name: string
  /** Absent: the agent decides. */
  readonly memoryBytes?: Bytes
  /** Absent: loopback. */
  readonly address?: string
  /** A command that runs the agent's, for example in a network namespace. */
  readonly within?: readonly string[]
  /** Of the time that its engine may work; absent: all of it. */
  readonly computeShare?: number
}

export interface PoolRun {
  readonly agentEntry: string
  /** Each peer gets a home of its own in it. */
  readonly folder: string
  readonly backend: string | undefined
  /** The first one hosts. */
  readonly peers: readonly DemoPeer[]
  readonly job: JobFile
  readonly terminal: Terminal
  /** Beside every event: which run of the demo it is. */
  readonly run: string
}

/** @throws JobFailedError when the job does not finish */
export async function runPool(run: PoolRun): Promise<EndedJob> {
  const starting = run.peers.map((peer) => startPeer(run, peer))
  try {
    await Promise.all(starting)
    return await trainTogether(run)
  } finally {
    const started = await Promise.allSettled(starting)
    const peers = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    await Promise.all(peers.map(endPeer))
  }
}

interface Peer {
  readonly home: string
  readonly process: AgentProcess
}

async function startPeer(run: PoolRun, peer: DemoPeer): Promise<Peer> {
  const home = join(run.folder, peer.name)
  const process = await startAgent(run.agentEntry, {
    home,
    displayName: peer.name,
    address: peer.address ?? '127.0.0.1',
    localDiscovery: false,
    ...(peer.within === undefined ? {} : { within: peer.within }),
    ...(peer.memoryBytes === undefined ? {} : { memoryBytes: peer.memoryBytes }),
    ...(run.backend === undefined ? {} : { backend: run.backend }),
    threads: Math.max(1, Math.floor(availableParallelism() / run.peers.length)),
  })
  return { home, process }
}

async function endPeer({ home, process }: Peer): Promise<void> {
  const client = await connectAgent(home).catch(() => undefined)
  if (client === undefined) await process.stop()
  else await endAgent(client, process)
}

/**
 * All are on this PC, and the host's agent has measured how fast it is while nobody else computed: measured side by side,
 * each would find it as slow as the others made it.
 */
async function shareBenchmark({ folder, peers }: PoolRun): Promise<void> {
  const [host, ...members] = peers.map(({ name }) => join(folder, name, 'benchmark.json'))
  if (host === undefined) return
  // What is not there is measured once more.
  await Promise.all(members.map((file) => copyFile(host, file).catch(() => undefined)))
}

async function trainTogether(run: PoolRun): Promise<EndedJob> {
  const [host, ...members] = await Promise.all(
    run.peers.map(({ name }) => connectAgent(join(run.folder, name))),
  )
  if (host === undefined) throw new JobFailedError('a pool needs a peer')
  const clients = [host, ...members]
  for (const [index, { computeShare }] of run.peers.entries())
    if (computeShare !== undefined) await clients[index]?.command('setLimits', { computeShare })
  const launched = await host.command('host', { job: run.job })
  await shareBenchmark(run)
  run.terminal.event({ event: 'invite', ...launched, run: run.run })
  await Promise.all(members.map((member) => member.command('join', { invite: launched.invite })))
  const ended = await followJob(host, {
    job: launched.job,
    terminal: run.terminal,
    tag: { run: run.run },
    hint: () => 'Ctrl-C ends the demo and every agent of it',
  })
  for (const client of clients) client.close()
  if (ended === undefined) throw new AgentEndedError('the connection to the host of the demo was closed')
  if (ended.result.outcome !== 'finished') throw new JobFailedError(ended.result.reason)
  return ended
}
