/** What the page sees of the world outside: `window.rookery`, one named function a command. Runs sandboxed. */
import { contextBridge, ipcRenderer } from 'electron'
import { commandChannel, toldChannels } from '../shared/messages/channels.ts'
import type { Bridge, WindowCommandName } from '../shared/messages/ipc.ts'

type Commands = Pick<Bridge, WindowCommandName>

const ask =
  (name: WindowCommandName) =>
  (input: unknown): Promise<never> =>
    ipcRenderer.invoke(commandChannel(name), input) as Promise<never>

const commands: Commands = {
  status: ask('status'),
  host: ask('host'),
  join: ask('join'),
  start: ask('start'),
  pause: ask('pause'),
  resume: ask('resume'),
  finish: ask('finish'),
  leave: ask('leave'),
  preview: ask('preview'),
  limits: ask('limits'),
  setLimits: ask('setLimits'),
  power: ask('power'),
  models: ask('models'),
  inspectData: ask('inspectData'),
  forecastHost: ask('forecastHost'),
  invite: ask('invite'),
  removeMember: ask('removeMember'),
  evaluate: ask('evaluate'),
  predict: ask('predict'),
  exportModel: ask('exportModel'),
  diagnostics: ask('diagnostics'),
  backupIdentity: ask('backupIdentity'),
  restoreIdentity: ask('restoreIdentity'),
  reset: ask('reset'),
  shutdown: ask('shutdown'),
  desktopState: ask('desktopState'),
  startAgent: ask('startAgent'),
  chooseFile: ask('chooseFile'),
  saveAs: ask('saveAs'),
  saveInvite: ask('saveInvite'),
  copyText: ask('copyText'),
  openLogs: ask('openLogs'),
  setDesktop: ask('setDesktop'),
  openExternal: ask('openExternal'),
  dismissInvite: ask('dismissInvite'),
}

/** Listeners of one channel; a late one hears the newest value at once. */
function told(channel: string): (listener: (value: never) => void) => () => void {
  const listeners = new Set<(value: never) => void>()
  let newest: { readonly value: never } | undefined
  ipcRenderer.on(channel, (_event, value: unknown) => {
    // Each channel carries one type, which main checked.
    newest = { value: value as never }
    for (const listener of listeners) listener(newest.value)
  })
  return (listener) => {
    listeners.add(listener)
    if (newest !== undefined) listener(newest.value)
    return () => {
      listeners.delete(listener)
    }
  }
}

const bridge: Bridge = {
  ...commands,
  onSnapshot: told(toldChannels.snapshot),
  onDesktop: told(toldChannels.desktop),
}
contextBridge.exposeInMainWorld('rookery', bridge)
