import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { evaluateTask } from '../../main/agent/tasks/evaluate.ts'
import { startCommand, until, type CommandRun } from '../cli/command-run.ts'
import { digits, rookeryEntry } from './fleet.ts'
import { noneLeft, processesNaming } from './orphans.ts'

let folder = ''
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'rookery-e2e-')))
})
afterEach(async () => {
  await noneLeft(folder)
  rmSync(folder, { recursive: true, force: true })
})

const run = (home: string, ...args: string[]): CommandRun =>
  startCommand(
    [
      ...args,
      '--home',
      join(folder, home),
      '--name',
      home,
      '--address',
      '127.0.0.1',
      '--no-local-discovery',
      '--json',
    ],
    folder,
    rookeryEntry,
  )

const eventOf = (run: CommandRun, name: string): Record<string, unknown> =>
  run.events().find(({ event }) => event === name)!

/** A host and a member, a cluster each, in the middle of a training that would take hours. */
async function training(): Promise<{ readonly host: CommandRun; readonly member: CommandRun }> {
  const job = {
    name: 'digits',
    model: 'digits-mlp',
    data: { type: 'csv', path: digits },
    target: { updates: 1_000_000 },
    gathering: { peers: 2, clusters: 2 },
  }
  writeFileSync(join(folder, 'job.json'), JSON.stringify(job))
  const host = run('host', 'host', join(folder, 'job.json'))
  await host.saw('"event":"invite"')
  const member = run('member', 'join', String(eventOf(host, 'invite')['invite']))
  await Promise.all([host.saw('"phase":"training"'), member.saw('"phase":"training"')])
  return { host, member }
}

describe('Ctrl-C', () => {
  it('to `rookery host` ends the training early, keeps the model, and leaves no agent behind', async () => {
    const { host, member } = await training()
    host.signal('SIGINT')
    const [{ code, events, stderr }, joined] = await Promise.all([host.ended, member.ended])
    const result = events().at(-1)!
    expect(result).toMatchObject({
      event: 'result',
      outcome: 'stopped',
      reason: 'ended early by the host',
      model: expect.stringContaining(join(folder, 'host', 'models')) as string,
    })
    expect({ code, joined: joined.code }).toEqual({ code: 0, joined: 0 })
    expect(stderr).toContain('finishing early; the model is kept')
    expect(joined.events().at(-1)).toMatchObject({ outcome: 'stopped', reason: 'ended early by the host' })
    expect(await processesNaming(folder)).toEqual([])
    const { scores } = await evaluateTask({ modelDirectory: String(result['model']), data: digits })
    const { loss } = result['validation'] as { readonly loss: number }
    expect(scores.loss).toBeCloseTo(loss, 4)
  })

  it('to `rookery join` leaves in order and the host is told; a host that is killed takes its agent along', async () => {
    const { host, member } = await training()
    member.signal('SIGINT')
    const { code, events } = await member.ended
    expect(events().at(-1)).toMatchObject({ event: 'result', outcome: 'stopped', reason: 'left on purpose' })
    expect(code).toBe(0)
    await until(() => host.events().some(({ state }) => state === 'lost'))
    expect(host.events().find(({ state }) => state === 'lost')).toMatchObject({
      event: 'member',
      displayName: 'member',
      reason: 'left',
    })
    expect((await processesNaming(join(folder, 'host'))).length).toBeGreaterThan(0)
    host.signal('SIGKILL')
    await host.ended
    await noneLeft(folder)
  })
})
