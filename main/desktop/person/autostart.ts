/** Start with the person's session, hidden in the tray. On or off by the settings alone, apart from the tray. */
import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { App } from 'electron'
import writeFileAtomic from 'write-file-atomic'

/** Given to a start that nobody watches: no window. */
export const hiddenFlag = '--hidden'

export interface AutostartPorts {
  readonly app: Pick<App, 'setLoginItemSettings'>
  readonly platform: NodeJS.Platform
  readonly executable: string
  /** `XDG_CONFIG_HOME` or what stands for it. */
  readonly configFolder: string
}

export async function setAutostart(on: boolean, ports: AutostartPorts): Promise<void> {
  const { app, platform, executable, configFolder } = ports
  if (platform !== 'linux') {
    app.setLoginItemSettings({ openAtLogin: on, args: [hiddenFlag] })
    return
  }
  // Electron's own setting does nothing on Linux; this file is the desktops' common way.
  const file = join(configFolder, 'autostart', 'rookery.desktop')
  if (!on) {
    await rm(file, { force: true })
    return
  }
  await mkdir(dirname(file), { recursive: true })
  await writeFileAtomic(file, desktopEntry(executable))
}

/**
 * @see Desktop Entry Specification, "The Exec key": quoted, with four characters escaped, no field code, and every
 * backslash once more escaped as in any string of the file
 */
function desktopEntry(executable: string): string {
  const escaped = executable.replaceAll(/["`$\\]/g, String.raw`\$&`).replaceAll('%', '%%')
  const quoted = `"${escaped.replaceAll('\\', '\\\\')}"`
  return [
    '[Desktop Entry]',
    'Type=Application',
    'Name=Rookery',
    'Comment=Train one neural network together',
    `Exec=${quoted} ${hiddenFlag}`,
    'Icon=rookery-desktop',
    'Terminal=false',
    'X-GNOME-Autostart-enabled=true',
    '',
  ].join('\n')
}
