/** The module `electron` of the main process: what the app imports, and nothing more. */
export { app } from './app.ts'
export { ipcMain } from './ipc.ts'
export { Menu, nativeImage, Notification, Tray } from './menus.ts'
export { protocol } from './protocol.ts'
export { session } from './session.ts'
export { clipboard, dialog, nativeTheme, powerMonitor, shell } from './system.ts'
export { BrowserWindow, webContents } from './window.ts'
