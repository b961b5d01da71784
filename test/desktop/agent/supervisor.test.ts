/** The agent is started again with growing pauses, five times, and then a person is told why not. */
import { describe, expect, it } from 'vitest'
import { type AgentStatus, createSupervisor } from '../../../main/desktop/agent/supervisor.ts'
import type { LiveAgent } from '../../../main/desktop/agent/launch.ts'
import { BadMessageError, InvalidInputError } from '../../../shared/errors.ts'

/** An agent that ends when the test says so, or that never starts. */
function setUp(start: 'starts' | Error) {
  const statuses: AgentStatus[] = []
  const due: { atMs: number; deed: () => void }[] = []
  const running: { lose: (cause: string) => void; ended: boolean }[] = []
  let nowMs = 0
  const launch = (): Promise<LiveAgent> => {
    if (start instanceof Error) return Promise.reject(start)
    const lost = Promise.withResolvers<string>()
    const agent = { lose: lost.resolve, ended: false }
    running.push(agent)
    const end = (): Promise<void> => {
      agent.ended = true
      lost.resolve('it was asked to')
      return Promise.resolve()
    }
    return Promise.resolve({ client: undefined as never, lost: lost.promise, end })
  }
  const supervisor = createSupervisor({
    launch,
    now: () => nowMs,
    later(delayMs, deed) {
      const entry = { atMs: nowMs + delayMs, deed }
      due.push(entry)
      return () => void due.splice(due.indexOf(entry), 1)
    },
    onChange: (status) => statuses.push(status),
  })
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  return {
    supervisor,
    statuses,
    running,
    due,
    settle,
    pass: (ms: number) => (nowMs += ms),
    /** The next try is due. */
    wait: async () => {
      const next = due.shift()!
      nowMs = next.atMs
      next.deed()
      await settle()
    },
  }
}

describe('a desktop whose agent ends', () => {
  it('starts it again after 1, 2, 4, 8 and 16 seconds, then gives up with the reason', async () => {
    const { supervisor, due, statuses, wait, settle } = setUp(new BadMessageError('no such program'))
    supervisor.start()
    await settle()
    const pauses: number[] = []
    let before = 0
    while (due.length > 0) {
      pauses.push((due[0]!.atMs - before) / 1000)
      before = due[0]!.atMs
      await wait()
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16])
    expect(statuses.at(-1)).toEqual({
      name: 'stopped',
      tries: 5,
      cause: 'no such program',
      nextTryAtMs: null,
    })
  })

  it('does not try again what a setting forbids', async () => {
    const { supervisor, due, settle } = setUp(new InvalidInputError('settings: port: too big'))
    supervisor.start()
    await settle()
    expect(due).toEqual([])
    expect(supervisor.status()).toMatchObject({ cause: 'settings: port: too big', nextTryAtMs: null })
  })

  it('says why it stopped and when it is next tried', async () => {
    const { supervisor, running, settle } = setUp('starts')
    supervisor.start()
    await settle()
    running[0]!.lose('it was ended from outside (SIGKILL)')
    await settle()
    const cause = 'it was ended from outside (SIGKILL)'
    expect(supervisor.status()).toEqual({ name: 'stopped', tries: 1, cause, nextTryAtMs: 1000 })
  })

  it('forgets earlier tries once an agent ran for a minute', async () => {
    const { supervisor, running, pass, wait, settle } = setUp('starts')
    supervisor.start()
    await settle()
    for (const ran of [5000, 5000, 60_000]) {
      pass(ran)
      running.at(-1)!.lose('gone')
      await settle()
      await wait()
    }
    expect(supervisor.status()).toMatchObject({ name: 'running', tries: 1 })
  })

  it('starts at once, with all its tries, when a person asks', async () => {
    const { supervisor, running, due, settle } = setUp('starts')
    supervisor.start()
    await settle()
    running[0]!.lose('gone')
    await settle()
    supervisor.start()
    await settle()
    expect(supervisor.status()).toMatchObject({ name: 'running', tries: 0 })
    expect(due).toEqual([])
  })

  it('ends its agent in order and leaves it ended', async () => {
    const { supervisor, running, due, settle } = setUp('starts')
    supervisor.start()
    await settle()
    await supervisor.stop()
    await settle()
    expect(running.map(({ ended }) => ended)).toEqual([true])
    expect(due).toEqual([])
    supervisor.start()
    await settle()
    expect(running).toHaveLength(1)
  })
})
