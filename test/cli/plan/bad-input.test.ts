/** What people get wrong in files for `plan` and `simulate`: one sentence that says what to do, and exit 2. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { planTask } from '../../../main/agent/tasks/plan.ts'
import { simulateTask } from '../../../main/agent/tasks/simulate.ts'
import { readPlanTask } from '../../../main/cli/commands/plan.ts'
import { exitCodeOf } from '../../../main/cli/errors.ts'
import { reportOf } from '../../../shared/errors.ts'
import { startCommand } from '../command-run.ts'

const peer = {
  ...{ id: 'a', memoryBytes: 1e9, flopsPerSecond: 1e9 },
  ...{ uploadBytesPerSecond: 1e6, downloadBytesPerSecond: 1e6 },
}
const other = { ...peer, id: 'b' }
const layer = {
  ...{ name: 'dense', parameterBytes: 1e6, activationBytesPerSample: 100 },
  ...{ workingBytesPerSample: 100, flopsPerSample: 1e6 },
}
const goodPool = { peers: [peer, other], links: [{ between: ['a', 'b'], latencySeconds: 0.01 }] }
const goodProfile = { name: 'm', layers: [layer, layer] }
const goodPlan = { clusters: [{ stages: [{ peer: 'a', layers: [0, 2] }] }] }

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rookery-plan-'))
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

interface Files {
  /** An object, or the text of the file. */
  readonly pool?: unknown
  readonly profile?: unknown
  readonly previous?: unknown
}

function write(name: string, content: unknown): string {
  const path = join(folder, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

function optionsFor({ pool = goodPool, profile = goodProfile, previous }: Files) {
  return {
    ...{ pool: write('pool.json', pool), profile: write('profile.json', profile), seed: 0 },
    ...(previous === undefined ? {} : { previous: write('previous.json', previous) }),
  }
}

const simulation = { minutes: 1, stragglers: 'none', loss: 0, trace: false } as const

/** What `plan` and `simulate` say: a refusal, or why the model does not fit. */
async function said(files: Files): Promise<string[]> {
  const answers: string[] = []
  for (const task of [planTask, simulateTask]) {
    try {
      const asked = await readPlanTask(optionsFor(files))
      const answer =
        task === planTask ? await planTask(asked) : await simulateTask({ ...asked, ...simulation })
      const report = 'report' in answer ? answer.report : answer
      answers.push('reason' in report ? report.reason : 'done')
    } catch (thrown) {
      expect(exitCodeOf(thrown)).toBe(2)
      answers.push(reportOf(thrown).message)
    }
  }
  return answers
}

const withPeer = (change: Record<string, unknown>) => ({ peers: [{ ...peer, ...change }] })
const withLink = (change: Record<string, unknown>) => ({
  peers: [peer, other],
  links: [{ between: ['a', 'b'], ...change }],
})
const withLayer = (change: Record<string, unknown>) => ({
  name: 'm',
  layers: [layer, { ...layer, ...change }],
})
const text = (value: unknown, raw: string) => JSON.stringify(value).replace('"RAW"', raw)

const cases: readonly (readonly [string, Files, string])[] = [
  [
    'an empty pool',
    { pool: { peers: [] } },
    'pool.json: peers: give a list of at least one PC; the list is empty',
  ],
  ['no peers', { pool: {} }, 'pool.json: peers: give a list of at least one PC, it is missing'],
  [
    'no pool',
    { pool: [1] },
    'pool.json: give a pool with the fields peers, links, defaultLatencySeconds, not [1]',
  ],
  ['no JSON', { pool: '{"peers"' }, 'pool.json is not JSON; correct it: '],
  ['NaN', { pool: text(withPeer({ memoryBytes: 'RAW' }), 'NaN') }, 'pool.json is not JSON; correct it: '],
  [
    'what NaN becomes in JSON',
    { pool: withPeer({ memoryBytes: NaN }) },
    'pool.json: peers.0.memoryBytes: give bytes from 0 to 10000000000000000, not null',
  ],
  [
    'a number that no double holds',
    { pool: text(withPeer({ flopsPerSecond: 'RAW' }), '1e999') },
    'pool.json: peers.0.flopsPerSecond: give FLOPs a second from 0 to 100000000000000000000, not Infinity',
  ],
  [
    'a negative number',
    { pool: withPeer({ uploadBytesPerSecond: -1 }) },
    'pool.json: peers.0.uploadBytesPerSecond: give bytes a second from 0 to 1000000000000000, not -1',
  ],
  [
    'an absurd number',
    { pool: withPeer({ memoryBytes: 1e30 }) },
    'pool.json: peers.0.memoryBytes: give bytes from 0 to 10000000000000000, not 1e+30',
  ],
  [
    'a number with its unit',
    { pool: withPeer({ memoryBytes: '4G' }) },
    'pool.json: peers.0.memoryBytes: give bytes from 0 to 10000000000000000, not "4G"',
  ],
  [
    'a field that is missing',
    { pool: withPeer({ flopsPerSecond: undefined }) },
    'pool.json: peers.0.flopsPerSecond: give FLOPs a second from 0 to 100000000000000000000, it is missing',
  ],
  [
    'a field that is none',
    { pool: withPeer({ memory: 1 }) },
    'pool.json: peers.0: a PC has no field "memory"; its fields are id, memoryBytes, flopsPerSecond, uploadBytesPerSecond, downloadBytesPerSecond, callSeconds, keeps, availability',
  ],
  [
    'a PC without a name',
    { pool: withPeer({ id: '' }) },
    'pool.json: peers.0.id: give an id of 1 to 128 characters, not ""',
  ],
  [
    'a day of 25 hours',
    { pool: withPeer({ availability: { hoursPerDay: 25 } }) },
    'pool.json: peers.0.availability.hoursPerDay: give hours from 0 to 24, not 25',
  ],
  [
    'latency in milliseconds',
    { pool: withLink({ latencySeconds: 20_000 }) },
    'pool.json: links.0.latencySeconds: give seconds from 0 to 3600, not 20000',
  ],
  [
    'two PCs of one id',
    { pool: { peers: [peer, peer] } },
    'pool: two peers have the id "a"; give each its own',
  ],
  [
    'a link to nobody',
    { pool: withLink({ between: ['a', 'c'] }) },
    'pool: links.0 names "c", which is no PC of the pool; add it to the peers or take the link out',
  ],
  [
    'a link to itself',
    { pool: withLink({ between: ['a', 'a'] }) },
    'pool: links.0 joins "a" to itself; name two different PCs',
  ],
  [
    'a link with one end',
    { pool: withLink({ between: ['a'] }) },
    'pool.json: links.0.between: give the ids of two PCs, such as ["a", "b"]',
  ],
  [
    'PCs that all have no speed',
    { pool: withPeer({ flopsPerSecond: 0 }) },
    'No PC of the pool can train ("a": its speed is 0); give one that lends memory, speed and time.',
  ],
  [
    'a model without layers',
    { profile: { name: 'm', layers: [] } },
    'profile.json: layers: give a list of at least one layer; the list is empty',
  ],
  [
    'a micro-batch of nothing',
    { profile: { ...goodProfile, microBatch: 0 } },
    'profile.json: microBatch: give a whole number of samples from 1 to 65536, not 0',
  ],
  [
    'half a micro-batch',
    { profile: { ...goodProfile, inFlight: 1.5 } },
    'profile.json: inFlight: give a whole number of micro-batches from 1 to 1024, not 1.5',
  ],
  [
    'a layer with less than nothing',
    { profile: withLayer({ parameterBytes: -5 }) },
    'profile.json: layers.1.parameterBytes: give bytes from 0 to 10000000000000000, not -5',
  ],
  [
    'a model without work',
    { profile: { name: 'm', layers: [{ ...layer, flopsPerSample: 0 }] } },
    'profile: no layer has flopsPerSample above 0; give those of at least one',
  ],
  [
    'a layer larger than any PC',
    { profile: { ...withLayer({ name: 'embedding', parameterBytes: 1e9 }), stateFactor: 3 } },
    'The layer "embedding" alone needs 3.73 GiB of memory and "a", which lends most, lends 953.67 MiB; a layer is never cut, so lend at least 3.73 GiB there.',
  ],
  [
    'a plan that is none',
    { previous: { event: 'result', feasible: false } },
    'previous.json: clusters: give a plan as rookery plan --json printed it',
  ],
  [
    'a plan of negative layers',
    { previous: { clusters: [{ stages: [{ peer: 'a', layers: [-1, 2] }] }] } },
    'previous.json: clusters.0.stages.0.layers.0: give a plan as rookery plan --json printed it',
  ],
]

describe('bad input', () => {
  it.each(cases)('%s: one sentence that says what to do, exit 2', async (_what, files, sentence) => {
    for (const answer of await said(files)) {
      expect(answer.slice(0, sentence.length)).toBe(sentence)
      expect(answer.split('\n').length).toBe(1)
    }
  })

  it.each([
    [[{ stages: [{ peer: 'a', layers: [0, 9] }] }], /not of a model with 2 layers; plan without it/],
    [
      [{ stages: [{ peer: 'a', layers: [1, 2] }] }],
      /cluster 1 of the previous plan does not hold each layer once/,
    ],
    [[...goodPlan.clusters, ...goodPlan.clusters], /two stages on "a"/],
  ])('a previous plan that does not suit (%#)', async (clusters, sentence) => {
    const [answer] = await said({ previous: { clusters } })
    expect(answer).toMatch(sentence)
  })

  it('is none where everything is right', async () => {
    expect(await said({})).toEqual(['done', 'done'])
    expect(await said({ previous: goodPlan })).toEqual(['done', 'done'])
  })

  it('ends the real command with 2 and nothing but its sentence', { timeout: 120_000 }, async () => {
    const real = fileURLToPath(new URL('../../../main/cli/index.ts', import.meta.url))
    const { pool, profile } = optionsFor({ pool: { peers: [] } })
    for (const command of ['plan', 'simulate'])
      expect(
        await startCommand([command, '--pool', pool, '--profile', profile], folder, real).ended,
      ).toMatchObject({
        code: 2,
        stdout: '',
        stderr: 'rookery: pool.json: peers: give a list of at least one PC; the list is empty\n',
      })
    const { previous } = optionsFor({ previous: { clusters: [...goodPlan.clusters, ...goodPlan.clusters] } })
    const again = ['plan', '--pool', pool, '--profile', profile, '--previous', previous ?? '']
    expect(await startCommand(again, folder, real).ended).toMatchObject({
      code: 2,
      stderr: 'rookery: the previous plan has two stages on "a"; give it as rookery plan --json printed it\n',
    })
    optionsFor({ profile: withLayer({ name: 'embedding', parameterBytes: 1e9 }) })
    const large = await startCommand(['plan', '--pool', pool, '--profile', profile, '--json'], folder, real)
      .ended
    expect({ code: large.code, lines: large.stderr.trim().split('\n').length }).toEqual({ code: 2, lines: 1 })
    expect(large.events()).toMatchObject([
      { event: 'result', feasible: false, reason: expect.stringContaining('"embedding"') as unknown },
    ])
  })
})
