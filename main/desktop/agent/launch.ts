/** Finds the agent of a home folder: one that somebody else started, or a child of ours. */
import { AgentNotRunningError } from '../../../shared/errors.ts'
import { type AgentClient, connectAgent } from '../../edge/control/client.ts'
import { type AgentProgram, startAgentProcess } from './agent-process.ts'

export interface LiveAgent {
  readonly client: AgentClient
  /** Resolves when it is gone, with the reason in one sentence. */
  readonly lost: Promise<string>
  /** In order, if it is ours; another's agent goes on without us. */
  end(): Promise<void>
}

/** @throws PoolError when no agent runs and none could be started */
export async function launchAgent(program: AgentProgram): Promise<LiveAgent> {
  return (await findAgent(program.home)) ?? startOwn(program)
}

async function findAgent(home: string): Promise<LiveAgent | undefined> {
  try {
    const client = await connectAgent(home)
    return {
      client,
      lost: client.closed.then(() => 'it was ended by whoever started it'),
      end() {
        client.close()
        return Promise.resolve()
      },
    }
  } catch (thrown) {
    if (thrown instanceof AgentNotRunningError) return undefined
    throw thrown
  }
}

async function startOwn(program: AgentProgram): Promise<LiveAgent> {
  const child = await startAgentProcess(program)
  const client = await connectAgent(program.home)
  // A connection that breaks while the agent lives (it was frozen, say) is no use to us: it goes, too.
  const broken = client.closed.then(async () => {
    await child.end()
    return child.gone
  })
  return {
    client,
    lost: Promise.race([child.gone, broken]),
    async end() {
      await client.command('shutdown', {}).catch(() => undefined)
      await child.end()
      client.close()
    },
  }
}
