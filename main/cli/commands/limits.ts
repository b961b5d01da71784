/** `rookery limits`: what this PC lends, whether it is in force now, and how to change it. */
import { connectAgent } from '../../edge/control/client.ts'
import { AgentNotRunningError } from '../../../shared/errors.ts'
import type { Limits, LimitState } from '../../../shared/limits.ts'
import type { AddCommand, HomeOptions } from '../context.ts'
import { homeOption, jsonOption } from '../context.ts'
import { homeFolder } from '../home.ts'
import { formatLimit, parseLimits } from '../limit-values.ts'
import type { Terminal } from '../terminal.ts'
import { column, displayWidth, harmless } from '../view/columns.ts'

const help = `
The agent obeys them, whoever set them; with none running, the settings file is shown and changed.

  memoryBytes=2GiB             tensor memory to lend to the next job; 0: half of what is free then
  computeShare=50%             share of the time that the engine may work
  uploadBytesPerSecond=1MB     cap; none: no cap
  downloadBytesPerSecond=none
  trainOnBattery=no
  idleMinutes=10               only after so long without keyboard and mouse; 0: always
  hours="mon-fri 18:00-23:30, sat+sun 8:00-24:00"    or always
  pausePrograms=blender,zoom   pause while one of these runs; none
  networkIsMetered=no          yes: pause

Examples:
  rookery limits
  rookery limits --set computeShare=50% --set uploadBytesPerSecond=1MB
  rookery limits --set hours="daily 22:00-06:00" --json`

interface Shown {
  readonly limits: Limits
  readonly states: readonly LimitState[]
}

export const addLimits: AddCommand = (program, context) => {
  program
    .command('limits')
    .description('show or change what this PC lends, and whether each limit is in force')
    .option('--set <key=value...>', 'change a limit; may be given several times')
    .option(...homeOption)
    .option(...jsonOption)
    .addHelpText('after', help)
    .action(async (options: HomeOptions & { readonly set?: readonly string[] }) => {
      const terminal = context.terminal(options)
      const change = options.set === undefined ? undefined : parseLimits(options.set)
      const shown = await showLimits(homeFolder(options.home), change)
      terminal.event({ event: 'result', ...shown })
      terminal.answer(textOf(shown, terminal))
    })
}

/** Of the agent that runs, or else of the settings file. @throws InvalidInputError, RemoteError */
async function showLimits(home: string, change: Partial<Limits> | undefined): Promise<Shown> {
  try {
    return await fromAgent(home, change)
  } catch (thrown) {
    if (!(thrown instanceof AgentNotRunningError)) throw thrown
    const { limitsTask } = await import('../../agent/tasks/limits.ts')
    return limitsTask({ home, ...(change === undefined ? {} : { change }) })
  }
}

async function fromAgent(home: string, change: Partial<Limits> | undefined): Promise<Shown> {
  const client = await connectAgent(home)
  try {
    const limits =
      change === undefined ? await client.command('limits', {}) : await client.command('setLimits', change)
    return { limits, states: (await client.command('status', {})).limits }
  } finally {
    client.close()
  }
}

const stateInWords: Readonly<Record<LimitState['state'], string>> = {
  off: 'off',
  'in-force': 'in force',
  allows: 'allows',
  pausing: 'PAUSING',
}

const widestSetting = 28

function textOf({ limits, states }: Shown, { paint }: Pick<Terminal, 'paint'>): string {
  const settings = states.map(({ limit }) => harmless(formatLimit(limit, limits)))
  const widthOf = (texts: readonly string[]) => Math.max(0, ...texts.map(displayWidth))
  const nameWidth = widthOf(states.map(({ limit }) => limit))
  const settingWidth = Math.min(widestSetting, widthOf(settings))
  return states
    .map(({ limit, state, reason }, index) =>
      [
        column(limit, nameWidth),
        column(settings[index] ?? '', settingWidth),
        paint(state === 'pausing' ? 'warn' : 'faint', column(stateInWords[state], 8)),
        paint('faint', harmless(reason)),
      ].join('  '),
    )
    .join('\n')
}
