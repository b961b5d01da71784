/** What each command of the window does: most go to the agent as they are, a few are the desktop's own. */
import { type BrowserWindow, clipboard, dialog, type OpenDialogOptions, shell } from 'electron'
import { writeFile } from 'node:fs/promises'
import { InvalidInputError } from '../../shared/errors.ts'
import type { CommandInput, CommandName, CommandOutput } from '../../shared/messages/control.ts'
import type { DesktopCommandName, DesktopState, WindowInput } from '../../shared/messages/ipc.ts'
import type { AgentLink } from './agent/agent-link.ts'
import type { WindowHandlers } from './ipc.ts'
import { inviteFileName } from './person/invite-files.ts'
import type { Signal } from './signal.ts'

export interface HandlerPorts {
  readonly link: AgentLink
  readonly desktop: Signal<DesktopState>
  readonly logs: string
  /** The parent of dialogs. */
  readonly window: () => BrowserWindow | undefined
  readonly setDesktop: (wish: WindowInput<'setDesktop'>) => Promise<void>
  readonly dismissInvite: () => void
}

const dialogs: Readonly<Record<WindowInput<'chooseFile'>['kind'], OpenDialogOptions>> = {
  data: {
    title: 'Choose a file of data',
    properties: ['openFile'],
    filters: [
      { name: 'Data', extensions: ['csv', 'gz', 'txt', 'bin', 'json', 'rookery'] },
      { name: 'All files', extensions: ['*'] },
    ],
  },
  identity: {
    title: 'Choose the backup of an identity',
    properties: ['openFile'],
    filters: [
      { name: 'Identity', extensions: ['key'] },
      { name: 'All files', extensions: ['*'] },
    ],
  },
  folder: { title: 'Choose a folder', properties: ['openDirectory', 'createDirectory'] },
  model: { title: 'Choose the folder of a model', properties: ['openDirectory'] },
}

export function windowHandlers(ports: HandlerPorts): WindowHandlers {
  const chosen = new Set<string>()
  return { ...agentHandlers(ports.link, chosen), ...desktopHandlers(ports, chosen) }
}

/** @param chosen - paths that the person picked in a dialog: the window writes and restores nowhere else */
function agentHandlers(link: AgentLink, chosen: ReadonlySet<string>): Pick<WindowHandlers, CommandName> {
  const forward =
    <N extends CommandName>(name: N) =>
    (input: CommandInput<N>): Promise<CommandOutput<N>> =>
      link.command(name, input)
  const forwardChosen =
    <N extends CommandName>(name: N, pathOf: (input: CommandInput<N>) => string) =>
    async (input: CommandInput<N>): Promise<CommandOutput<N>> => {
      if (!chosen.has(pathOf(input)))
        throw new InvalidInputError('choose the place in the dialog: the window may use no other')
      return link.command(name, input)
    }
  return {
    status: forward('status'),
    host: forward('host'),
    join: forward('join'),
    start: forward('start'),
    pause: forward('pause'),
    resume: forward('resume'),
    finish: forward('finish'),
    leave: forward('leave'),
    preview: forward('preview'),
    limits: forward('limits'),
    setLimits: forward('setLimits'),
    power: forward('power'),
    models: forward('models'),
    inspectData: forward('inspectData'),
    forecastHost: forward('forecastHost'),
    invite: forward('invite'),
    removeMember: forward('removeMember'),
    evaluate: forward('evaluate'),
    predict: forward('predict'),
    exportModel: forwardChosen('exportModel', ({ to }) => to),
    diagnostics: forwardChosen('diagnostics', ({ to }) => to),
    backupIdentity: forwardChosen('backupIdentity', ({ to }) => to),
    restoreIdentity: forwardChosen('restoreIdentity', ({ from }) => from),
    reset: forward('reset'),
    shutdown: forward('shutdown'),
  }
}

function desktopHandlers(ports: HandlerPorts, chosen: Set<string>): Pick<WindowHandlers, DesktopCommandName> {
  const { link, desktop, logs } = ports
  const remember = (path: string | undefined): { path: string | null } => {
    if (path === undefined || path === '') return { path: null }
    chosen.add(path)
    return { path }
  }
  return {
    ...nowHandlers(ports),
    async chooseFile({ kind }) {
      const window = ports.window()
      const options = dialogs[kind]
      const answer = await (window ? dialog.showOpenDialog(window, options) : dialog.showOpenDialog(options))
      return remember(answer.canceled ? undefined : answer.filePaths[0])
    },
    async saveAs({ suggested }) {
      const window = ports.window()
      const options = { title: 'Save as', defaultPath: suggested }
      const answer = await (window ? dialog.showSaveDialog(window, options) : dialog.showSaveDialog(options))
      return remember(answer.canceled ? undefined : answer.filePath)
    },
    async saveInvite({ job, invite }) {
      const window = ports.window()
      const options = { title: 'Save the invite', defaultPath: inviteFileName(job) }
      const answer = await (window ? dialog.showSaveDialog(window, options) : dialog.showSaveDialog(options))
      if (answer.canceled || answer.filePath === '') return { path: null }
      // Whoever reads it may join.
      await writeFile(answer.filePath, invite, { mode: 0o600 })
      return { path: answer.filePath }
    },
    async setDesktop(wish) {
      await ports.setDesktop(wish)
      return desktop.get()
    },
    async openLogs() {
      const fault = await shell.openPath(logs)
      if (fault !== '') throw new InvalidInputError(`the folder ${logs} could not be shown: ${fault}`)
      return null
    },
    async openExternal({ url }) {
      await shell.openExternal(url)
      return null
    },
    startAgent: () => {
      link.start()
      return Promise.resolve(null)
    },
  }
}

/** Those that are done at once. */
function nowHandlers({ desktop, dismissInvite }: HandlerPorts) {
  return {
    desktopState: () => Promise.resolve(desktop.get()),
    copyText: async ({ text }: WindowInput<'copyText'>) => {
      await clipboard.writeText(text)
      return null
    },
    dismissInvite: () => {
      dismissInvite()
      return Promise.resolve(null)
    },
  }
}
