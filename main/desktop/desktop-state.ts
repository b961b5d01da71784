/** The desktop's own state: what the person chose, how the agent's program stands, an invite that waits for an answer. */
import type { DesktopState } from '../../shared/messages/ipc.ts'
import type { AgentStatus } from './agent/supervisor.ts'
import { mostTries } from './agent/supervisor.ts'
import type { DesktopSettings } from '../../shared/desktop-settings.ts'

export function firstDesktopState(chosen: DesktopSettings, version: string, tray: boolean): DesktopState {
  return {
    ...chosen,
    ...{ agent: 'starting', tries: 0, mostTries, nextTryAtMs: null, cause: '' },
    ...{ tray, version, pendingInvite: null },
  }
}

/** The state with the agent as it is now. */
export function withAgent(state: DesktopState, status: AgentStatus): DesktopState {
  const stopped = status.name === 'stopped'
  return {
    ...state,
    agent: status.name,
    tries: status.tries,
    cause: stopped ? status.cause : '',
    nextTryAtMs: stopped ? status.nextTryAtMs : null,
  }
}
