import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { createProgram } from '../../main/cli/program.ts'
import { createTerminal } from '../../main/cli/terminal.ts'

const program = createProgram({
  agentEntry: '',
  loadTasks: () => Promise.reject(new RangeError('help needs no tasks')),
  terminal: (options) => createTerminal(process, options),
})

const leaves = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leaves)

function helpOf(command: Command): string {
  let text = ''
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp()
  return text
}

describe('the help', () => {
  it('knows every command of the promise that this release keeps', () => {
    expect(leaves(program).map((command) => command.name())).toEqual([
      ...['demo', 'host', 'join', 'status', 'start', 'pause', 'resume', 'finish', 'leave', 'limits'],
      ...['agent', 'plan', 'simulate', 'device', 'evaluate', 'predict', 'chaos'],
    ])
  })

  it.each(leaves(program).map((command) => [command.name(), command] as const))(
    '%s explains itself with an example and its options',
    (_, command) => {
      const help = helpOf(command)
      expect(help).toMatch(/Examples?:\n {2}rookery /)
      expect(help).toContain('--json')
    },
  )
})
