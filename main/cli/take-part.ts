/** Host or join a job and stay with it until it ends or the person at the keyboard goes. */
import type { AgentClient } from '../edge/control/client.ts'
import type { JobId } from '../../shared/ids.ts'
import type { JobPhase, JobView } from '../../shared/messages/control.ts'
import type { AgentOptions } from './agent-process.ts'
import type { Context } from './context.ts'
import { exitCodes } from './errors.ts'
import { followJob } from './follow.ts'
import type { EndedJob } from './follow.ts'
import { createInterrupts } from './interrupts.ts'
import { openSession } from './session.ts'
import type { Session } from './session.ts'
import type { Terminal } from './terminal.ts'
import { resultText } from './view/result-text.ts'

export interface Part {
  readonly role: JobView['role']
  readonly terminal: Terminal
  readonly agent: AgentOptions
  /** Ask the agent for the job and say what there is to say about it. */
  begin(client: AgentClient): Promise<JobId>
}

/** From here on stopping early leaves a model worth keeping. */
const trained: ReadonlySet<JobPhase> = new Set(['training', 'draining', 'paused', 'finishing'])

/** @returns the exit code */
export async function takePart(context: Context, part: Part): Promise<number> {
  const { terminal } = part
  // Leaving the process takes its own agent along.
  const atOnce = (): void => process.exit(exitCodes.failure)
  using interrupts = createInterrupts({ orderly: atOnce, atOnce })
  const session = await openSession(context.agentEntry, part.agent)
  try {
    if (session.own === undefined) terminal.say('an agent runs already; its own settings hold')
    const job = await part.begin(session.client)
    interrupts.orderly(() => void endInOrder(session, part))
    using _keys = startOnEnter(session.client, part)
    const ended = await followJob(session.client, { job, terminal, hint: (view) => hintFor(view, session) })
    if (ended === undefined) {
      terminal.event({ event: 'result', job, outcome: 'detached' })
      terminal.say('the job goes on; `rookery status` shows it')
      return exitCodes.done
    }
    return report(terminal, ended)
  } finally {
    await session.close()
  }
}

export function report(terminal: Terminal, job: EndedJob): number {
  terminal.event({ event: 'result', job: job.job, name: job.name, ...job.result })
  terminal.answer(resultText(job))
  if (job.result.outcome !== 'failed') return exitCodes.done
  return job.result.code === 'does-not-fit' ? exitCodes.badInput : exitCodes.failure
}

async function endInOrder(session: Session, { role, terminal }: Part): Promise<void> {
  const { client, own } = session
  if (own === undefined) {
    client.close()
    return
  }
  try {
    const { job } = await client.command('status', {})
    const keeps = role === 'host' && job !== null && trained.has(job.phase)
    terminal.say(
      keeps
        ? 'finishing early; the model is kept (Ctrl-C again stops at once, without it)'
        : 'leaving the job (Ctrl-C again stops at once)',
    )
    await client.command(keeps ? 'finish' : 'leave', {})
  } catch {
    // The agent is going or gone: following ends by itself.
  }
}

function hintFor(job: JobView, { own }: Session): string {
  if (own === undefined) return 'Ctrl-C closes this view; the job goes on'
  if (job.role === 'member') return 'Ctrl-C leaves the job'
  if (job.phase === 'gathering') return 'Enter starts with the peers that are here; Ctrl-C ends the job'
  return trained.has(job.phase) ? 'Ctrl-C finishes early and keeps the model' : 'Ctrl-C ends the job'
}

/** While a host gathers, Enter on a keyboard starts the job. */
function startOnEnter(client: AgentClient, { role, terminal }: Part): Disposable {
  const { stdin } = process
  if (role !== 'host' || !stdin.isTTY) return { [Symbol.dispose]: () => undefined }
  let started = false
  const press = (): void => {
    if (started) return
    started = true
    client.command('start', {}).catch((thrown: unknown) => {
      started = false
      terminal.say(thrown instanceof Error ? thrown.message : String(thrown))
    })
  }
  stdin.on('data', press)
  return {
    [Symbol.dispose]() {
      stdin.off('data', press)
      stdin.pause()
    },
  }
}
