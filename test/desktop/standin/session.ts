/** `session`: what pages may ask for. As in Electron, what nobody decides is granted. */
import { devTools } from './chromium.ts'
import { protocol } from './protocol.ts'

type Check = (contents: null, permission: string) => boolean

let check: Check = () => true

export const session = {
  defaultSession: {
    protocol,
    setPermissionRequestHandler(_handler: unknown): void {
      // The browser asks nobody: what the check refuses is never requested.
    },
    setPermissionCheckHandler(handler: Check | null): void {
      check = handler ?? (() => true)
    },
    setDevicePermissionHandler(_handler: unknown): void {
      // A browser without a screen has no device chooser.
    },
  },
}

/** Electron's names to the browser's. */
const permissions = {
  geolocation: 'geolocation',
  notifications: 'notifications',
  'clipboard-read': 'clipboard-read',
  midi: 'midi',
} as const

/** Let the browser decide as the app's check does. */
export async function applyPermissions(): Promise<void> {
  for (const [name, known] of Object.entries(permissions))
    await devTools().send('Browser.setPermission', {
      ...{ permission: { name: known }, setting: check(null, name) ? 'granted' : 'denied' },
    })
}
