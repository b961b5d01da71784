import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { demoBudgetsTask } from '../../main/agent/tasks/demo-budgets.ts'
import { evaluateTask } from '../../main/agent/tasks/evaluate.ts'
import type { JobView } from '../../shared/messages/control.ts'
import { createFleet, digits, digitsJob, gatherPool, type Peer } from './fleet.ts'

const fleet = createFleet()
let host: Peer
let friend: Peer
let memoryBytes: number
let run: { readonly job: string; readonly invite: string }

beforeAll(async () => {
  ;[memoryBytes] = (await demoBudgetsTask({ model: 'digits-mlp', shape: [2] })) as [number]
  const start = (name: string) => fleet.start(name, { memoryBytes, rejoin: true })
  ;[host, friend] = await Promise.all([start('ann'), start('ben')])
})
afterAll(() => fleet.end())

const trains = ({ phase, job, updates }: JobView) => job === run.job && phase === 'training' && updates > 0
const said = ({ log }: JobView) => log.map(({ text }) => text)

describe('a pool of two that neither can do without', () => {
  it('waits for the friend whose agent was killed, and trains on when it was started again', async () => {
    const gathering = { peers: 2, clusters: 1, deadlineSeconds: 600, inviteHours: 24 }
    run = await gatherPool(host, [friend], digitsJob({ gathering }))
    await host.until('training', trains)
    await friend.kill()
    const waiting = await host.until('the wait', ({ phase }) => phase === 'paused')
    expect(waiting.text).toBe('waiting for ben to come back')
    friend = await fleet.start('ben', { memoryBytes, rejoin: true })
    await friend.until('its training', trains)
    const again = await host.until('training again', trains)
    expect(said(again)).toContainEqual(expect.stringMatching(/^ben is back \(kernels-(wide|narrow)\)$/))
    await host.until('more updates', ({ updates }) => updates > again.updates)
  })

  it('goes on when its host was killed and started again: the friend comes back by itself', async () => {
    const before = await host.until(
      'a checkpoint',
      ({ updates, phase }) => phase === 'training' && updates > 0,
    )
    const kept = () =>
      readdirSync(join(host.home, 'hosted', run.job)).some((name) => name.endsWith('.safetensors'))
    await host.until('its place on disk', kept)
    await host.kill()
    host = await fleet.start('ann', { memoryBytes, rejoin: true })
    const again = await host.until('training again', trains)
    expect(again.job).toBe(before.job)
    expect(said(again)[0]).toMatch(/^the run goes on from update \d+$/)
    expect((await friend.until('its training', trains)).job).toBe(run.job)
    await host.until('more updates', ({ updates }) => updates > again.updates)
  })

  it('goes on when both agents were shut down in order and started again', async () => {
    await Promise.all([host.shutDown(), friend.shutDown()])
    host = await fleet.start('ann', { memoryBytes, rejoin: true })
    friend = await fleet.start('ben', { memoryBytes, rejoin: true })
    const again = await host.until('training again', trains)
    expect(again.job).toBe(run.job)
    expect(again.updates).toBeGreaterThan(0)
    await friend.until('its training', trains)
  })

  it('takes in a newcomer while it trains', async () => {
    const guest = await fleet.start('cem', { memoryBytes: 8 * memoryBytes })
    await guest.client.command('join', { invite: run.invite })
    const seen = await host.until('the newcomer’s place', ({ members }) =>
      members.some(({ displayName, state }) => displayName === 'cem' && ['training', 'idle'].includes(state)),
    )
    await host.until('more updates', ({ updates, phase }) => phase === 'training' && updates > seen.updates)
  })

  it('comes to a model that is as good as it says', async () => {
    await host.client.command('finish', {})
    const result = await host.resultOf(run.job)
    expect(result.outcome).toBe('stopped')
    const { scores } = await evaluateTask({ modelDirectory: result.model!, data: digits })
    expect(scores.accuracy).toBeCloseTo(result.validation!.accuracy, 4)
    expect((await friend.resultOf(run.job)).outcome).toBe('stopped')
  })

  it('stays away from a job that ended, and from one that its owner left', async () => {
    await friend.shutDown()
    friend = await fleet.start('ben', { memoryBytes, rejoin: true })
    expect(await friend.client.command('status', {})).toMatchObject({ job: null, comesBackTo: null })
    const gathering = { peers: 2, clusters: 1, deadlineSeconds: 600, inviteHours: 24 }
    run = await gatherPool(host, [friend], digitsJob({ gathering }))
    await friend.client.command('leave', {})
    await friend.shutDown()
    friend = await fleet.start('ben', { memoryBytes, rejoin: true })
    expect(await friend.client.command('status', {})).toMatchObject({ job: null, comesBackTo: null })
    await host.client.command('leave', {})
  })

  it('does not go on with a job that never began', async () => {
    // An optional engine that is not installed.
    const guest = await fleet.start('dan', { memoryBytes, rejoin: true, backend: 'webgpu' })
    await expect(guest.client.command('host', { job: digitsJob() })).rejects.toMatchObject({
      code: 'invalid-input',
    })
    expect(readdirSync(join(guest.home, 'hosted'))).toEqual([])
    await guest.shutDown()
  })

  it('asks a host that is gone again and again, until its owner wants something else', async () => {
    const gathering = { peers: 2, clusters: 1, deadlineSeconds: 600, inviteHours: 24 }
    run = await gatherPool(host, [friend], digitsJob({ gathering, name: 'on and on' }))
    await friend.until('training', trains)
    await host.kill()
    expect(await friend.resultOf(run.job)).toMatchObject({ outcome: 'failed', code: 'host-lost' })
    await friend.until('its wish', (_job, { comesBackTo }) => comesBackTo === 'on and on')
    const own = digitsJob({
      target: { updates: 4 },
      gathering: { ...gathering, peers: 1 },
      model: 'digits-mlp',
    })
    expect((await friend.client.command('host', { job: own })).job).not.toBe(run.job)
    expect((await friend.client.command('status', {})).comesBackTo).toBeNull()
  })
})
