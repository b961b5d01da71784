import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startCommand, type CommandRun } from '../cli/command-run.ts'
import { rookeryEntry } from './fleet.ts'
import { noneLeft, processesNaming } from './orphans.ts'

let folder = ''
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'rookery-e2e-')))
})
afterEach(async () => {
  await noneLeft(folder)
  rmSync(folder, { recursive: true, force: true })
})

/** Three peers of which each can hold the model: whatever happens to one, the others train on. */
const chaos = (...args: readonly string[]): CommandRun => {
  const pool = ['--peers', '3', '--clusters', '3', '--seed', '5', '--json']
  return startCommand(['chaos', ...pool, ...args], folder, rookeryEntry)
}

const namespaces = (): string[] =>
  existsSync('/run/netns')
    ? readdirSync('/run/netns').filter((name) => name.startsWith('rookery-chaos-'))
    : []

describe('rookery chaos', () => {
  it('does the faults that it is told, trains to the end, and leaves nothing behind', async () => {
    const before = namespaces()
    const run = chaos('--minutes', '0.15', '--faults', 'kill,pause,freeze')
    const { code, events, stderr } = await run.ended
    expect({ code, said: code === 0 ? '' : stderr }).toEqual({ code: 0, said: '' })
    const result = events().at(-1)!
    expect(result).toEqual({
      event: 'result',
      faults: { kill: 1, freeze: 1, pause: 1 },
      samples: {
        trained: expect.any(Number) as number,
        lost: expect.toBeOneOf([null, expect.any(Number)]) as number | null,
        doubled: expect.toBeOneOf([null, 0]) as number | null,
      },
      longestStallSeconds: expect.any(Number) as number,
      recoverySeconds: {
        median: expect.any(Number) as number,
        max: expect.any(Number) as number,
        faults: expect.any(Number) as number,
      },
      // What was not seen, as in a run so short, is null.
      pauses: {
        pausedSeconds: expect.toBeOneOf([null, expect.any(Number)]) as number | null,
        resumedSeconds: expect.toBeOneOf([null, expect.any(Number)]) as number | null,
      },
      loss: expect.any(Number) as number,
      undisturbedLoss: expect.any(Number) as number,
    })
    expect((result['samples'] as { readonly trained: number }).trained).toBeGreaterThan(0)
    expect(stderr).toMatch(/peer-\d is killed \(kill -9\)\n[^]*peer-\d is paused[^]*peer-\d freezes/)
    expect(stderr).toContain('The longest time without training: ')
    expect(await processesNaming(folder)).toEqual([])
    expect(namespaces()).toEqual(before)
  })

  it('ends every agent, a frozen one too, when it is interrupted', async () => {
    const before = namespaces()
    const run = chaos('--minutes', '0.5', '--faults', 'freeze,freeze,freeze,freeze,freeze,freeze,freeze')
    await run.saw('freezes')
    run.signal('SIGINT')
    const { code, events } = await run.ended
    expect(code).toBe(1)
    expect(events().at(-1)).toMatchObject({ event: 'result', error: { code: 'aborted' } })
    expect(await processesNaming(folder)).toEqual([])
    expect(namespaces()).toEqual(before)
  })
})
