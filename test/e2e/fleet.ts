/** Real agents as processes of their own: a home each below one temporary folder, and none outlives its test file. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startAgent, type AgentOptions, type AgentProcess } from '../../main/cli/agent-process.ts'
import { endAgent } from '../../main/cli/session.ts'
import { connectAgent, type AgentClient } from '../../main/edge/control/client.ts'
import { jobFile, type JobFile } from '../../shared/job/spec.ts'
import type { JobResult, JobView, Snapshot } from '../../shared/messages/control.ts'
import { minute } from '../../shared/units.ts'

const pathOf = (file: string): string => fileURLToPath(new URL(`../../${file}`, import.meta.url))

const agentEntry = pathOf('main/agent/index.ts')
export const rookeryEntry = pathOf('main/cli/index.ts')
export const digits = pathOf('resources/samples/digits.csv.gz')

/** Generous: the machine may be busy with other tests. What takes longer hangs. */
const patienceMs = 2 * minute

export interface Peer {
  readonly name: string
  readonly home: string
  readonly pid: number
  readonly client: AgentClient
  /** The first snapshot in which it holds. Rejects, with the last one in the text, when it takes too long. */
  until(what: string, holds: (job: JobView, snapshot: Snapshot) => boolean): Promise<JobView>
  /** How this job ended here. */
  resultOf(job: string): Promise<JobResult>
  /** End the process as a power cut would. Resolves when it is gone. */
  kill(): Promise<void>
  /** In order, over its socket. */
  shutDown(): Promise<void>
}

export interface Fleet {
  readonly folder: string
  /** An agent on the home of this name, which an earlier one may have left. */
  start(name: string, options?: Partial<AgentOptions>): Promise<Peer>
  /** Shut every agent down and delete the folder. */
  end(): Promise<void>
}

export function createFleet(): Fleet {
  const folder = mkdtempSync(join(tmpdir(), 'rookery-e2e-'))
  const living = new Set<Peer>()
  return {
    folder,
    async start(name, options = {}) {
      const home = join(folder, name)
      const process = await startAgent(agentEntry, {
        ...{ home, displayName: name, address: '127.0.0.1', localDiscovery: false, backend: 'kernels' },
        ...options,
      })
      const peer = peerOf(name, { home, process, client: await connectAgent(home) })
      living.add(peer)
      void process.ended.then(() => living.delete(peer))
      return peer
    },
    async end() {
      await Promise.all([...living].map((peer) => peer.shutDown()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

interface Parts {
  readonly home: string
  readonly process: AgentProcess
  readonly client: AgentClient
}

function peerOf(name: string, { home, process, client }: Parts): Peer {
  let last: JobView | null = null
  const search = async (what: string, holds: Parameters<Peer['until']>[1]): Promise<JobView> => {
    for await (const snapshot of client.watch()) {
      last = snapshot.job
      if (last !== null && holds(last, snapshot)) return last
    }
    throw new RangeError(`${name}: the connection was closed before ${what}`)
  }
  const until: Peer['until'] = async (what, holds) => {
    const limit = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      limit.reject(new RangeError(`${name}: ${what} did not come; it shows ${sketchOf(last)}`))
    }, patienceMs)
    try {
      return await Promise.race([search(what, holds), limit.promise])
    } finally {
      clearTimeout(timer)
    }
  }
  return {
    ...{ name, home, client, until, pid: process.pid },
    async resultOf(job) {
      const { result } = await until('the end of the job', (view) => view.job === job && view.result !== null)
      return result!
    },
    async kill() {
      process.kill()
      await process.ended
    },
    shutDown: () => endAgent(client, process),
  }
}

function sketchOf(job: JobView | null): string {
  if (job === null) return 'no job'
  const { phase, text, updates, members, log, result } = job
  const states = members.map(({ displayName, state, reason }) => [displayName, state, reason])
  return JSON.stringify({ phase, text, updates, states, log: log.slice(-8), result })
}

/** A job on the digits that comes with Rookery; without an end of its own unless `target` says so. */
export function digitsJob(changes: Partial<JobFile> = {}): JobFile {
  const job = {
    name: 'digits',
    model: 'digits-mlp',
    data: { type: 'csv', path: digits },
    target: { updates: 1_000_000 },
    ...changes,
  }
  return jobFile.parse(job)
}

/** A host and those who join it, in this order. @returns the job's id and its invite */
export async function gatherPool(
  host: Peer,
  members: readonly Peer[],
  job: JobFile,
): Promise<{ readonly job: string; readonly invite: string }> {
  const launched = await host.client.command('host', { job })
  await Promise.all(members.map(({ client }) => client.command('join', { invite: launched.invite })))
  return launched
}
