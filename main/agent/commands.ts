/** What each command of a face does, group by group; forgetting one does not compile. */
import type { CommandName } from '../../shared/messages/control.ts'
import type { AgentParts } from './agent-parts.ts'
import type { HandlersOf } from './commands/handlers.ts'
import { homeCommands } from './commands/home-commands.ts'
import { hostCommands } from './commands/host-commands.ts'
import { jobCommands } from './commands/job-commands.ts'
import { limitCommands } from './commands/limit-commands.ts'
import { modelCommands } from './commands/model-commands.ts'

export function handleCommands(parts: AgentParts): HandlersOf<CommandName> {
  return {
    ...jobCommands(parts),
    ...hostCommands(parts),
    ...limitCommands(parts),
    ...modelCommands(parts),
    ...homeCommands(parts),
  }
}
