/** Other PCs on this machine: real agents with homes of their own, a host of the digits and a friend. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { launchAgent } from '../../../main/desktop/agent/launch.ts'
import type { AgentClient } from '../../../main/edge/control/client.ts'
import { type JobFile, jobFile } from '../../../shared/job/spec.ts'
import { makeHome, root } from './desktop-app.ts'

/** The handwritten digits on so many PCs, each of which holds the whole model: one that is lost stops nobody. */
export const digitsJob = (peers: number, updates: number): JobFile =>
  jobFile.parse({
    name: 'digits',
    model: 'digits-mlp',
    data: {
      type: 'csv',
      path: join(root, 'resources/samples/digits.csv.gz'),
      label: -1,
      normalize: 'global',
    },
    target: { updates },
    gathering: { peers, clusters: peers },
  })

export interface Friend {
  readonly client: AgentClient
  end(): Promise<void>
}

export interface DigitsHost extends Friend {
  readonly invite: string
}

async function startPc(displayName: string): Promise<Friend> {
  const home = makeHome({ displayName })
  const runtime = join(root, 'node_modules/.bin/node')
  const agent = await launchAgent({ runtime, entry: join(root, 'main/agent/index.ts'), home })
  return {
    client: agent.client,
    async end() {
      await agent.end()
      rmSync(home, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** Gathers until so many PCs are there, then trains so long. */
export async function startHost(peers: number, updates: number): Promise<DigitsHost> {
  const pc = await startPc('garage-tower')
  const { invite } = await pc.client.command('host', { job: digitsJob(peers, updates) })
  return { ...pc, invite }
}

export async function startFriend(invite: string): Promise<Friend> {
  const pc = await startPc('attic-pc')
  await pc.client.command('join', { invite })
  return pc
}
