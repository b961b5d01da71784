/** What no page of this program may ever do, whatever it shows: leave, open windows, ask for permissions. */
import type { App, Protocol, Session, WebContents } from 'electron'
import { serveFile } from './app-protocol.ts'

/** Before Electron is ready: `app://` is a secure origin with its own storage and policy. */
export function registerScheme(protocol: Protocol): void {
  protocol.registerSchemesAsPrivileged([
    { scheme: 'app', privileges: { standard: true, secure: true, supportFetchAPI: true } },
  ])
}

/** Every page of this program, also one that we did not think of. */
export function lockPages(app: App): void {
  app.on('web-contents-created', (_event, contents) => {
    lockPage(contents)
  })
}

function lockPage(contents: WebContents): void {
  contents.setWindowOpenHandler(() => ({ action: 'deny' }))
  contents.on('will-navigate', (event) => {
    event.preventDefault()
  })
  contents.on('will-redirect', (event) => {
    event.preventDefault()
  })
  contents.on('will-attach-webview', (event) => {
    event.preventDefault()
  })
}

/** The window's session: our files, no permission, no device. */
export function lockSession(session: Session, windowFolder: string): void {
  session.protocol.handle('app', (request) => serveFile(windowFolder, request.url))
  session.setPermissionRequestHandler((_contents, _permission, answer) => {
    answer(false)
  })
  session.setPermissionCheckHandler(() => false)
  session.setDevicePermissionHandler(() => false)
}
