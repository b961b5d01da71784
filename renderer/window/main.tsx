/** Entry of the window: connect the bridge, draw the app. */
import { render } from 'preact'
import { App } from './app.tsx'
import { followInvites } from './pages/join-state.ts'
import { followAddress, followBridge, followLimits, followTime } from './state.ts'

followBridge(window.rookery)
followLimits(window.rookery)
followAddress()
followTime()
followInvites()
const root = document.getElementById('window')
if (root !== null) render(<App />, root)
