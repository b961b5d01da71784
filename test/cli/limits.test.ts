import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCommand, startCommand } from './command-run.ts'

let folder = ''
let home = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rookery-limits-'))
  home = join(folder, 'home')
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

describe('rookery limits', () => {
  const limits = (...args: string[]) => runCommand(['limits', '--home', home, ...args])

  it('shows and changes the settings file where no agent runs', async () => {
    const set = await limits(
      '--set',
      'computeShare=50%',
      'hours=daily 0-24',
      '--set',
      'idleMinutes=5',
      '--json',
    )
    expect(set.code).toBe(0)
    const [shown] = set.events() as { limits: object; states: { limit: string; state: string }[] }[]
    expect(shown!.limits).toMatchObject({ computeShare: 0.5, idleMinutes: 5 })
    expect(shown!.limits).not.toHaveProperty('hours')
    expect(shown!.states.find(({ limit }) => limit === 'computeShare')?.state).toBe('in-force')
    expect(JSON.parse(readFileSync(join(home, 'settings.json'), 'utf8'))).toMatchObject({
      limits: { computeShare: 0.5 },
    })
    const text = await limits()
    expect(text.stdout).toMatch(/^computeShare +50% +in force +The engine rests/m)
  })

  it('asks the agent that runs, and leaves what is not named as it is', async () => {
    const agent = startCommand(['agent', '--home', home])
    await agent.saw('the agent runs on')
    await limits('--set', 'computeShare=50%')
    const { events } = await limits('--set', 'idleMinutes=5', '--json')
    expect(events()).toEqual([
      {
        event: 'result',
        limits: expect.objectContaining({ computeShare: 0.5, idleMinutes: 5 }) as unknown,
        states: [],
      },
    ])
    agent.signal('SIGINT')
    await agent.ended
  })

  it('refuses what is no limit with exit 2 and one sentence, and changes nothing', async () => {
    const { code, stderr } = await limits('--set', 'speed=9')
    expect(code).toBe(2)
    expect(stderr.trim().split('\n')).toHaveLength(1)
    expect((await limits('--set', 'uploadBytesPerSecond=12')).code).toBe(2)
    expect(existsSync(join(home, 'settings.json'))).toBe(false)
  })
})
