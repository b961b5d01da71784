/** The tray's icon, words and menu follow from the agent's state alone. */
import { describe, expect, it } from 'vitest'
import type { AgentStatus } from '../../../main/desktop/agent/supervisor.ts'
import { pcState, tooltip } from '../../../main/desktop/tray/pc-state.ts'
import { trayMenu, untilTomorrow } from '../../../main/desktop/tray/tray-menu.ts'
import type { JobView, Snapshot } from '../../../shared/messages/control.ts'
import { exampleJob } from '../../cli/example-job.ts'
import { nothingLent } from '../../edge/control/example-state.ts'

const running: AgentStatus = { name: 'running', tries: 0, agent: undefined as never }

const snapshotOf = (change: Partial<Snapshot> = {}): Snapshot => ({
  ...{
    version: '0.1.0',
    self: 'laptop',
    displayName: 'laptop',
    home: '/home/me',
    addresses: [],
    backend: 'wasm',
  },
  ...nothingLent,
  job: null,
  ...change,
})
const jobOf = (change: Partial<JobView>): Snapshot => snapshotOf({ job: { ...exampleJob, ...change } })

const onBattery = { limit: 'trainOnBattery', state: 'pausing', reason: 'It is on battery.' } as const

const labels = (agent: AgentStatus, snapshot: Snapshot | undefined): string[] =>
  trayMenu(agent, snapshot, 0).map((item) => (item === 'separator' ? '—' : item.label))

describe('the tray', () => {
  it.each<[string, AgentStatus, Snapshot | undefined, string, string]>([
    ['no job', running, snapshotOf(), 'idle', 'No job'],
    ['a member', running, jobOf({ role: 'member' }), 'training', 'Training digits, 71%'],
    ['a host', running, jobOf({}), 'training', 'Hosting digits, 4 PCs, 71%'],
    [
      'a wait',
      running,
      jobOf({ phase: 'gathering', text: 'Waiting for members.' }),
      'training',
      'digits: Waiting for members',
    ],
    [
      'a stall',
      running,
      jobOf({ text: 'stalled: laptop: waits for activations of desk', stalledForSeconds: 25 }),
      'training',
      'digits: stalled: laptop: waits for activations of desk',
    ],
    ['a limit', running, { ...jobOf({}), limits: [onBattery] }, 'paused', 'Paused: It is on battery'],
    [
      'a pause',
      running,
      { ...jobOf({}), pausedByUser: { untilMs: null } },
      'paused',
      'Paused: you paused it',
    ],
    [
      'a pause that waits for the round',
      running,
      { ...jobOf({}), pauseAfterRound: { forMs: null } },
      'training',
      'Finishing this round, then pausing',
    ],
    [
      'a new plan',
      running,
      jobOf({ phase: 'draining', text: 'ben joined; what is in flight finishes before the new plan' }),
      'training',
      'digits: ben joined; what is in flight finishes before the new plan',
    ],
    [
      'a wait for somebody lost',
      running,
      jobOf({ phase: 'paused', text: 'waiting for ben to come back' }),
      'paused',
      'digits: waiting for ben to come back',
    ],
    ['a way back', running, snapshotOf({ comesBackTo: 'digits' }), 'idle', 'Coming back to “digits”…'],
    [
      'a way back to a host that was lost',
      running,
      { ...jobOf({ phase: 'ended' }), comesBackTo: 'digits' },
      'idle',
      'Coming back to “digits”…',
    ],
    ['the end', running, jobOf({ phase: 'ended' }), 'idle', 'No job'],
    ['a start', { name: 'starting', tries: 0 }, undefined, 'idle', 'Agent is starting'],
    [
      'a restart',
      { name: 'stopped', tries: 2, cause: 'it was killed', nextTryAtMs: 5 },
      undefined,
      'trouble',
      'Agent stopped, starts again by itself (try 2 of 5)',
    ],
    [
      'no restart',
      { name: 'stopped', tries: 5, cause: 'no disk.', nextTryAtMs: null },
      undefined,
      'trouble',
      'Agent does not start: no disk',
    ],
  ])('shows %s', (...[, agent, snapshot, icon, text]) => {
    expect(pcState(agent, snapshot)).toEqual({ icon, text })
  })

  it('offers pauses while it trains, and the invite to a host', () => {
    expect(labels(running, jobOf({}))).toEqual([
      'Hosting digits, 4 PCs, 71%',
      '—',
      'Pause',
      'Finish this round, then pause',
      'Pause for 1 hour',
      'Pause for 4 hours',
      'Pause until tomorrow',
      '—',
      'Copy invite',
      'Open Rookery',
      '—',
      'Quit (your job stops)',
    ])
  })

  it('offers a pause, not a start, while the job waits for others', () => {
    const waits = labels(running, jobOf({ phase: 'paused', text: 'waiting for ben to come back' }))
    expect(waits).toContain('Pause')
    expect(waits).toContain('Copy invite')
    expect(waits).not.toContain('Start')
  })

  it('offers to start again after a person’s pause, and to stay paused during a limit’s', () => {
    expect(labels(running, snapshotOf({ pausedByUser: { untilMs: null } }))).toContain('Start')
    expect(labels(running, snapshotOf({ limits: [onBattery] }))).toContain('Stay paused for 1 hour')
  })

  it('finishes a round only where one is under way, and takes that back', () => {
    const round = 'Finish this round, then pause'
    expect(labels(running, snapshotOf())).not.toContain(round)
    expect(labels(running, jobOf({ phase: 'gathering' }))).not.toContain(round)
    expect(labels(running, { ...jobOf({}), limits: [onBattery] })).not.toContain(round)
    const deeds = trayMenu(running, { ...jobOf({}), pauseAfterRound: { forMs: null } }, 0).flatMap((item) =>
      typeof item === 'object' && 'deed' in item ? [[item.id, item.label, item.deed]] : [],
    )
    expect(deeds.slice(0, 2)).toEqual([
      ['toggle', 'Pause now', { type: 'pause' }],
      ['keep-training', 'Keep training', { type: 'resume' }],
    ])
  })

  it('offers to start an agent that stopped, and no pause', () => {
    const stopped: AgentStatus = { name: 'stopped', tries: 5, cause: '', nextTryAtMs: null }
    expect(labels(stopped, undefined)).toEqual([
      'Agent is not running',
      '—',
      'Start agent now',
      '—',
      'Open Rookery',
      '—',
      'Quit',
    ])
  })

  it('says speed and time left where one points at it', () => {
    const snapshot = jobOf({ role: 'member', secondsLeft: [7000, 8400] })
    expect(tooltip(pcState(running, snapshot), snapshot)).toBe(
      'Rookery: Training digits, 71%, 1152 samples/s, 2 h 20 min left at most',
    )
  })

  it('pauses until six in the morning of the next day', () => {
    const evening = new Date(2026, 10, 29, 22, 30).getTime()
    expect(untilTomorrow(evening)).toBe(7.5 * 3_600_000)
  })
})
