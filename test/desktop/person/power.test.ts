/** The agent hears of battery and idle time at once, and no oftener than somebody needs it. */
import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AgentLink } from '../../../main/desktop/agent/agent-link.ts'
import type { AgentStatus } from '../../../main/desktop/agent/supervisor.ts'
import { followPower } from '../../../main/desktop/person/power.ts'
import { createSignal } from '../../../main/desktop/signal.ts'
import type { LimitState } from '../../../shared/limits.ts'
import type { Snapshot } from '../../../shared/messages/control.ts'

const running: AgentStatus = { name: 'running', tries: 0, agent: undefined as never }
const stopped: AgentStatus = { name: 'stopped', tries: 0, cause: '', nextTryAtMs: null }
const idle = (state: LimitState['state']): Snapshot =>
  ({ limits: [{ limit: 'idleMinutes', state, reason: '' }] }) as unknown as Snapshot

function setUp(first: AgentStatus) {
  const told: unknown[] = []
  const status = createSignal(first)
  const snapshot = createSignal<Snapshot | undefined>(undefined)
  const command = (name: string, input: unknown) => {
    told.push([name, input])
    return Promise.resolve(null)
  }
  const monitor = Object.assign(new EventEmitter(), {
    isOnBatteryPower: () => false,
    getSystemIdleTime: () => 7,
  })
  followPower(monitor as never, { status, snapshot, command } as unknown as AgentLink)
  return { told, status, snapshot, monitor }
}
const power = (onBattery: boolean) => ['power', { onBattery, idleSeconds: 7 }]

describe('what the desktop knows of power', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('is told when the charger comes or goes, and when an agent starts', () => {
    const { told, status, monitor } = setUp(stopped)
    monitor.emit('on-battery')
    expect(told).toEqual([])
    status.set(running)
    monitor.emit('on-battery')
    monitor.emit('on-ac')
    monitor.emit('resume')
    monitor.emit('unlock-screen')
    expect(told).toEqual([power(false), power(true), power(false), power(false), power(false)])
  })

  it('is told once a minute, and once a second only while "only when idle" is on', () => {
    const { told, snapshot } = setUp(running)
    vi.advanceTimersByTime(60_000)
    expect(told).toHaveLength(1)
    snapshot.set(idle('pausing'))
    vi.advanceTimersByTime(5000)
    expect(told).toHaveLength(6)
    snapshot.set(idle('off'))
    vi.advanceTimersByTime(59_000)
    expect(told).toHaveLength(6)
  })
})
