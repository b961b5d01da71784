/** The tray's menu as data, from the state alone. */
import type { Snapshot } from '../../../shared/messages/control.ts'
import { hour, type Millis } from '../../../shared/units.ts'
import type { AgentStatus } from '../agent/supervisor.ts'
import { pauseReason, pcState } from './pc-state.ts'

/** What a click means. `pause` for so long, or until the person resumes. */
export type TrayDeed =
  | { readonly type: 'pause'; readonly forMs?: Millis; readonly after?: 'round' }
  | { readonly type: 'resume' | 'startAgent' | 'open' | 'quit' }
  | { readonly type: 'copyInvite'; readonly invite: string }

export type TrayItem =
  | 'separator'
  | { readonly id: 'state'; readonly label: string }
  | { readonly id: string; readonly label: string; readonly deed: TrayDeed }

export function trayMenu(agent: AgentStatus, snapshot: Snapshot | undefined, nowMs: Millis): TrayItem[] {
  const invite = snapshot?.job?.phase === 'ended' ? null : (snapshot?.job?.invite ?? null)
  return [
    { id: 'state', label: pcState(agent, snapshot).text },
    'separator',
    ...steering(agent, snapshot, nowMs),
    'separator',
    ...(invite === null
      ? []
      : [{ id: 'copy-invite', label: 'Copy invite', deed: { type: 'copyInvite', invite } } as const]),
    { id: 'open', label: 'Open Rookery', deed: { type: 'open' } },
    'separator',
    { id: 'quit', label: quitLabel(snapshot), deed: { type: 'quit' } },
  ]
}

const duringRound: readonly TrayItem[] = [
  { id: 'toggle', label: 'Pause now', deed: { type: 'pause' } },
  { id: 'keep-training', label: 'Keep training', deed: { type: 'resume' } },
]

function steering(agent: AgentStatus, snapshot: Snapshot | undefined, nowMs: Millis): TrayItem[] {
  if (agent.name === 'stopped')
    return [{ id: 'start-agent', label: 'Start agent now', deed: { type: 'startAgent' } }]
  if (snapshot === undefined) return []
  if (snapshot.pausedByUser !== null) return [{ id: 'toggle', label: 'Start', deed: { type: 'resume' } }]
  return snapshot.pauseAfterRound === null ? pauses(snapshot, nowMs) : [...duringRound]
}

function pauses(snapshot: Snapshot, nowMs: Millis): TrayItem[] {
  const held = pauseReason(snapshot) !== undefined
  const pause = held ? 'Stay paused' : 'Pause'
  return [
    { id: 'toggle', label: held ? 'Stay paused until I start it' : 'Pause', deed: { type: 'pause' } },
    ...(snapshot.job?.phase === 'training' && !held ? [afterRound] : []),
    { id: 'pause-1h', label: `${pause} for 1 hour`, deed: { type: 'pause', forMs: hour } },
    { id: 'pause-4h', label: `${pause} for 4 hours`, deed: { type: 'pause', forMs: 4 * hour } },
    {
      id: 'pause-tomorrow',
      label: `${pause} until tomorrow`,
      deed: { type: 'pause', forMs: untilTomorrow(nowMs) },
    },
  ]
}

const afterRound = {
  id: 'pause-after-round',
  label: 'Finish this round, then pause',
  deed: { type: 'pause', after: 'round' },
} as const

/** Tomorrow begins when people get up. */
const morningHour = 6

/** Milliseconds until six o'clock of the next day, local time. */
export function untilTomorrow(nowMs: Millis): Millis {
  const now = new Date(nowMs)
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, morningHour).getTime() - nowMs
}

function quitLabel(snapshot: Snapshot | undefined): string {
  const job = snapshot?.job
  const hosts = job?.role === 'host' && job.phase !== 'ended'
  return hosts ? 'Quit (your job stops)' : 'Quit'
}
