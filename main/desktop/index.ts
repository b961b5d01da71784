/** The desktop's program, as a table of contents: what happens before, at and after Electron's start. */
import { app, protocol } from 'electron'
import { findPlaces } from './places.ts'
import { openDesktop } from './desktop.ts'
import { lockPages, registerScheme } from './window/locks.ts'

const places = findPlaces({
  isPackaged: app.isPackaged,
  resourcesPath: process.resourcesPath,
  dist: import.meta.dirname,
  platform: process.platform,
  environment: process.env,
})

app.setName('Rookery')
app.setPath('userData', places.userData)
registerScheme(protocol)
lockPages(app)
app.enableSandbox()

// The first desktop of a home stays; a later one hands its link over and goes.
if (app.requestSingleInstanceLock()) void app.whenReady().then(() => openDesktop(places))
else app.quit()
