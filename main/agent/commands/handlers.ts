/** What a group of commands is: one handler each. */
import type { CommandInput, CommandName, CommandOutput } from '../../../shared/messages/control.ts'

export type HandlersOf<Names extends CommandName> = {
  readonly [N in Names]: (input: CommandInput<N>) => Promise<CommandOutput<N>>
}
