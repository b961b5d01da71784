/** What the agent says to a line of a face: checked once here, trusted inside. */
import { z } from 'zod'
import { InvalidInputError, reportOf } from '../../../shared/errors.ts'
import type { ErrorReport } from '../../../shared/errors.ts'
import { commands, faceLine } from '../../../shared/messages/control.ts'
import type {
  AgentLine,
  CommandInput,
  CommandName,
  CommandOutput,
  FaceLine,
} from '../../../shared/messages/control.ts'
import { describeIssue } from '../../../shared/settings.ts'

/** One handler a command; forgetting one does not compile. */
export type CommandHandlers = {
  readonly [N in CommandName]: (input: CommandInput<N>) => Promise<CommandOutput<N>>
}

/** A line that could not be read. Number 0 is about the whole connection, which ends. */
export interface Refusal {
  readonly type: 'refusal'
  readonly id: number
  readonly error: ErrorReport
}

const commandEnvelope = z.object({ type: z.literal('command'), id: z.int().min(0), name: z.unknown() })

/** The line, or why not: an answer when it is at least a numbered command, else goodbye. Total. */
export function readFaceLine(line: string): FaceLine | Refusal {
  const raw = parseJson(line)
  const parsed = faceLine.safeParse(raw)
  if (parsed.success) return parsed.data
  const fault = describeIssue(parsed.error)
  const envelope = commandEnvelope.safeParse(raw)
  if (!envelope.success) return refusal(0, `not a line of a face: ${fault}`)
  const { id, name } = envelope.data
  const known = typeof name === 'string' && Object.hasOwn(commands, name)
  return refusal(id, known ? fault : `this agent knows no command ${JSON.stringify(name)}`)
}

function refusal(id: number, text: string): Refusal {
  return { type: 'refusal', id, error: reportOf(new InvalidInputError(text)) }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** Check and run one command. Total: whatever goes wrong is an answer. */
export async function answerCommand(
  handlers: CommandHandlers,
  command: Extract<FaceLine, { type: 'command' }>,
): Promise<AgentLine> {
  const { id, name, input } = command
  try {
    const parsed = commands[name].in.safeParse(input)
    if (!parsed.success) throw new InvalidInputError(`${name}: ${describeIssue(parsed.error)}`)
    // The schema of this very command was just applied; TypeScript cannot follow a union of pairs.
    const handle = handlers[name] as (checked: unknown) => Promise<unknown>
    return { type: 'done', id, output: await handle(parsed.data) }
  } catch (thrown) {
    return { type: 'failed', id, error: reportOf(thrown) }
  }
}
