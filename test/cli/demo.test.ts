import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { agentPid, lives, notesOf, runCommand, startCommand, until } from './command-run.ts'

let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rookery-cli-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

const demo = (...args: string[]): string[] => ['demo', '--updates', '20', ...args]

describe('rookery demo', () => {
  it('ends with the result line of its promise, and the model outlives the pool', async () => {
    const { code, events, stderr } = await runCommand(demo('--json'), folder)
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
    const model = join(folder, 'rookery-demo-digits-cnn')
    expect(events().at(-1)).toEqual({
      event: 'result',
      peers: 5,
      clusters: [
        [
          ['laptop', 0, 4],
          ['old-pc', 4, 9],
        ],
        [
          ['desk', 0, 2],
          ['tower', 2, 9],
        ],
      ],
      updates: 20,
      samples: 1280,
      validation: { loss: 0.25, accuracy: 0.94 },
      baseline: { loss: 0.25, accuracy: 0.94 },
      bytesSent: { activations: 1000, gradients: 900, parameters: 5000, data: 300 },
      peakTensorBytes: { single: 600, perPeer: [600, 600, 600, 600, 600] },
      maxStaleness: 2,
      model,
    })
    expect(JSON.parse(readFileSync(join(model, 'model.json'), 'utf8'))).toEqual({ by: 'peer-1' })
  })

  it('gives each peer its budget and the baseline as many samples an update as all clusters together', async () => {
    const { code } = await runCommand(demo('--keep', '--plain', '--output', 'model'), folder)
    expect(code).toBe(0)
    const kept = demoFolder()
    const budgets = readdirSync(join(kept, 'pool')).map((peer) => {
      return /--memory (\d+)/.exec(notesOf(join(kept, 'pool', peer))[0] ?? '')?.[1]
    })
    expect(budgets).toEqual(['2000', '2000', '3000', '3000', '3000'])
    const job = (peer: string) =>
      JSON.parse(readFileSync(join(kept, peer, 'job.json'), 'utf8')) as Record<string, object>
    expect(job('baseline/one-pc')).toMatchObject({
      target: { updates: 20 },
      recipe: { schedule: { microBatch: 16, accumulate: 8 } },
      gathering: { peers: 1 },
    })
    expect(job('plain/peer-1')).toMatchObject({
      target: { updates: 80 },
      recipe: { staleness: 'none', schedule: { accumulate: 1 }, sync: { averageEveryUpdates: 40 } },
    })
    const pids = ['pool/peer-1', 'pool/peer-5', 'baseline/one-pc'].map((peer) => agentPid(join(kept, peer)))
    expect(pids.map(lives)).toEqual([false, false, false])
  })

  it.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)('leaves no agent behind after %s', async (signal) => {
    // So many updates that it still trains when the signal comes.
    const run = startCommand(['demo', '--updates', '1000000', '--json', '--keep'], folder)
    await run.saw('"event":"progress"')
    const root = demoFolder()
    const pids = readdirSync(join(root, 'pool')).map((peer) => agentPid(join(root, 'pool', peer)))
    expect(pids).toHaveLength(5)
    expect(pids.every(lives)).toBe(true)
    run.signal(signal)
    const { code, events } = await run.ended
    if (signal !== 'SIGKILL') {
      expect(code).toBe(1)
      expect(events().at(-1)).toMatchObject({ event: 'result', error: { kind: 'aborted' } })
      expect(pids.some(lives)).toBe(false)
    }
    await until(() => !pids.some(lives))
  })

  it('refuses impossible choices with exit 2, before it starts anything', async () => {
    const said = async (...args: string[]) => {
      const { code, stderr } = await runCommand(demo(...args), folder)
      expect(code).toBe(2)
      return stderr
    }
    expect(await said('--peers', '1', '--clusters', '2')).toContain('2 clusters need at least 2 peers')
    expect(await said('--model', 'resnet')).toContain('no sample data for "resnet"')
    expect(await said('--peers', '0')).toContain('--peers takes a whole number')
    writeFileSync(join(folder, 'thesis.txt'), '')
    expect(await said('--output', folder)).toContain('holds something else')
    expect(existsSync(join(folder, 'thesis.txt'))).toBe(true)
  })
})

/** The temporary folder of the demo that runs in the test's folder. */
function demoFolder(): string {
  const [name, ...others] = readdirSync(folder).filter((entry) => entry.startsWith('rookery-demo-'))
  expect(others).toEqual([])
  return join(folder, name!)
}
