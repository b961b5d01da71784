/** A host of the digits, as another PC on this machine: a real agent with a home of its own. */
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

export interface DigitsHost {
  readonly client: AgentClient
  readonly invite: string
  end(): Promise<void>
}

export async function startHost(peers: number, updates: number): Promise<DigitsHost> {
  const home = makeHome({ displayName: 'garage-tower' })
  const runtime = join(root, 'node_modules/.bin/node')
  const agent = await launchAgent({ runtime, entry: join(root, 'main/agent/index.ts'), home })
  const { invite } = await agent.client.command('host', { job: digitsJob(peers, updates) })
  return {
    client: agent.client,
    invite,
    async end() {
      await agent.end()
      rmSync(home, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
