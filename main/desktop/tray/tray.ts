/** The icon in the status bar: shows the state, carries the menu. Absent where the desktop has no place for it. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Menu, nativeImage, nativeTheme, Tray } from 'electron'
import type { Snapshot } from '../../../shared/messages/control.ts'
import { second } from '../../../shared/units.ts'
import type { AgentLink } from '../agent/agent-link.ts'
import { pcState, type PcIcon, tooltip } from './pc-state.ts'
import { type TrayDeed, trayMenu } from './tray-menu.ts'

export interface TrayPorts {
  readonly icons: string
  readonly link: AgentLink
  readonly platform: NodeJS.Platform
  readonly act: (deed: TrayDeed) => void
}

/** Of the real one, what a test may look at and click. */
export interface TrayFace {
  readonly menu: Pick<Menu, 'items' | 'getMenuItemById'> | undefined
  readonly icon: PcIcon | undefined
  readonly tooltip: string
}

/** @returns how the tray stands, for tests */
export function showTray({ icons, link, platform, act }: TrayPorts): () => TrayFace {
  const tray = new Tray(picture(icons, 'idle', platform))
  let shown = ''
  let face: TrayFace = { menu: undefined, icon: undefined, tooltip: '' }

  const draw = (): void => {
    const [agent, snapshot, now] = [link.status.get(), link.snapshot.get(), Date.now()]
    const { icon, ...rest } = pcState(agent, snapshot)
    const items = trayMenu(agent, snapshot, now)
    const tip = tooltip({ icon, ...rest }, snapshot)
    // A menu that is open while it is set again closes; and most snapshots change nothing here.
    const labels = items.map((item) => (item === 'separator' ? '' : item.label))
    const looks = JSON.stringify([icon, tip, labels, nativeTheme.shouldUseDarkColors])
    if (looks === shown) return
    shown = looks
    const menu = Menu.buildFromTemplate(
      items.map((item) => {
        if (item === 'separator') return { type: 'separator' }
        if (!('deed' in item)) return { ...item, enabled: false }
        const { id, label, deed } = item
        return {
          id,
          label,
          click: () => {
            act(deed)
          },
        }
      }),
    )
    tray.setImage(picture(icons, icon, platform))
    tray.setToolTip(tip)
    tray.setContextMenu(menu)
    face = { menu, icon, tooltip: tip }
  }

  tray.on('click', () => {
    act({ type: 'open' })
  })
  followChanges(link, draw)
  draw()
  return () => face
}

/** At once when the agent's state changes; at most once a second for a stream of snapshots. */
function followChanges(link: AgentLink, draw: () => void): void {
  let drawnAt = 0
  let due: NodeJS.Timeout | undefined
  const soon = (now: Snapshot | undefined): void => {
    if (due !== undefined) return
    const pauses =
      now?.pausedByUser !== null ||
      now.pauseAfterRound !== null ||
      now.limits.some(({ state }) => state === 'pausing')
    const wait = pauses ? 0 : Math.max(0, drawnAt + second - Date.now())
    due = setTimeout(() => {
      due = undefined
      drawnAt = Date.now()
      draw()
    }, wait)
  }
  link.status.subscribe(draw)
  link.snapshot.subscribe(soon)
  nativeTheme.on('updated', draw)
}

function picture(icons: string, icon: PcIcon, platform: NodeJS.Platform) {
  const dark = platform !== 'darwin' && nativeTheme.shouldUseDarkColors
  const image = nativeImage.createFromPath(join(icons, `tray-${icon}-${dark ? 'dark' : 'light'}.png`))
  // macOS paints a template in the colour of its bar; the triangle of trouble keeps its own.
  if (platform === 'darwin' && icon !== 'trouble') image.setTemplateImage(true)
  return image
}

const watcher = 'org.kde.StatusNotifierWatcher'

/**
 * Whether an icon would be seen. Windows and macOS always have a place for one; a Linux desktop has when
 * something owns the watcher's name on the session bus.
 */
export async function hasTray(platform: NodeJS.Platform, forced: string | undefined): Promise<boolean> {
  if (forced === 'yes' || forced === 'no') return forced === 'yes'
  if (platform !== 'linux') return true
  try {
    const bus = 'org.freedesktop.DBus'
    const call = ['call', '--session', '--dest', bus, '--object-path', '/org/freedesktop/DBus']
    const { stdout } = await promisify(execFile)(
      'gdbus',
      [...call, '--method', `${bus}.NameHasOwner`, watcher],
      { timeout: 3 * second },
    )
    return stdout.includes('true')
  } catch {
    return false
  }
}
