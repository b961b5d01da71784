/** Every command of a face, said to real agents: a host and a friend on one machine, over the control socket. */
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Agent, startAgent } from '../../main/agent/agent.ts'
import { openLogFile } from '../../main/agent/log-file.ts'
import { type AgentClient, connectAgent } from '../../main/edge/control/client.ts'
import { jobFile, type JobFile } from '../../shared/job/spec.ts'
import { limits as limitsSchema } from '../../shared/limits.ts'
import type { Snapshot } from '../../shared/messages/control.ts'
import { settings as settingsSchema } from '../../shared/settings.ts'

const digits = join(import.meta.dirname, '../../resources/samples/digits.csv.gz')

let folder: string
let host: RunningAgent
let friend: RunningAgent

interface RunningAgent {
  readonly home: string
  readonly client: AgentClient
  stop(): Promise<void>
}

async function start(name: string): Promise<RunningAgent> {
  const home = join(folder, name)
  await mkdir(home, { recursive: true })
  // The plain engine: nothing to load, and the same on every machine.
  const settings = settingsSchema.parse({
    displayName: name,
    limits: { memoryBytes: 200_000_000 },
    network: { address: '127.0.0.1', localDiscovery: false },
    engine: { backend: 'cpu' },
  })
  const agent: Agent = await startAgent({ home, settings, log: openLogFile(home).log })
  const client = await connectAgent(home)
  return {
    home,
    client,
    async stop() {
      client.close()
      agent.shutdown()
      await agent.ended
    },
  }
}

/** The first snapshot that is as it should be. */
async function until(
  { client }: RunningAgent,
  condition: (snapshot: Snapshot) => boolean,
): Promise<Snapshot> {
  for await (const snapshot of client.watch()) if (condition(snapshot)) return snapshot
  return expect.unreachable('the agent ended first')
}

const digitsJob = (updates: number): JobFile =>
  jobFile.parse({
    name: 'digits at home',
    model: 'digits-mlp',
    data: { type: 'csv', path: digits },
    target: { updates },
    validation: { everyUpdates: 20 },
    gathering: { peers: 2, clusters: 2 },
  })

const stateOf = (snapshot: Snapshot, limit: string) =>
  snapshot.limits.find((one) => one.limit === limit)?.state

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rookery-agents-'))
  host = await start('host-pc')
  friend = await start('friend-pc')
})
afterAll(async () => {
  await Promise.all([host.stop(), friend.stop()])
  await rm(folder, { recursive: true, force: true })
})

describe('an agent without a job', () => {
  it('names the models that come with it', async () => {
    const models = await host.client.command('models', {})
    const mlp = models.find(({ name }) => name === 'digits-mlp')!
    expect(mlp).toMatchObject({
      task: 'tells classes apart',
      input: expect.stringMatching(/values/) as string,
    })
    expect(mlp.parameters).toBeGreaterThan(1000)
    expect(mlp.memoryBytes).toBeGreaterThan(4 * mlp.parameters)
  })

  it('looks into data', async () => {
    const source = { type: 'csv', path: digits, label: -1, normalize: 'global' } as const
    const shown = await host.client.command('inspectData', { source, model: 'digits-cnn' })
    expect(shown).toMatchObject({ samples: 1797, validationSamples: 180, faults: [] })
    expect([...shown.classes].sort()).toEqual('0123456789'.split(''))
    expect(shown.examples[0]!.picture).toMatch(/^data:image\/png;base64,/)
  })

  it('forecasts a job from its own measured speed', async () => {
    const { byPeers } = await host.client.command('forecastHost', { job: digitsJob(100), peers: 3 })
    expect(byPeers.map(({ peers }) => peers)).toEqual([1, 2, 3])
    // Two clusters were asked for: one PC cannot be two.
    expect(byPeers.map(({ fits }) => fits)).toEqual([false, true, true])
    expect(byPeers[1]!.seconds[0]).toBeGreaterThan(0)
    expect(byPeers[1]!.seconds[1]).toBeGreaterThan(byPeers[1]!.seconds[0])
  })

  it('keeps a change of its limits in its settings file, and refuses one that no job could live with', async () => {
    const before = await host.client.command('limits', {})
    const change = { ...before, pausePrograms: ['no-such-program'], idleMinutes: 10 }
    expect(await host.client.command('setLimits', change)).toEqual(change)
    const file = JSON.parse(await readFile(join(host.home, 'settings.json'), 'utf8')) as unknown
    expect(file).toMatchObject({ limits: { idleMinutes: 10, pausePrograms: ['no-such-program'] } })
    await expect(
      host.client.command('setLimits', { ...change, uploadBytesPerSecond: 100 }),
    ).rejects.toMatchObject({ kind: 'bad-input' })
    const snapshot = await host.client.command('status', {})
    expect([stateOf(snapshot, 'idleMinutes'), stateOf(snapshot, 'uploadBytesPerSecond')]).toEqual([
      'allows',
      'off',
    ])
    await host.client.command('setLimits', before)
  })

  it('pauses ahead of a job, over a restart, until it is told to go on', async () => {
    await friend.client.command('pause', {})
    await friend.stop()
    friend = await start('friend-pc')
    expect((await friend.client.command('status', {})).pausedByUser).toEqual({ untilMs: null })
    await friend.client.command('resume', {})
    expect((await friend.client.command('status', {})).pausedByUser).toBeNull()
  })

  it('keeps its identity in a copy, and takes no other file for one', async () => {
    const copy = join(folder, 'copy.json')
    await host.client.command('backupIdentity', { to: copy })
    expect((await stat(copy)).mode & 0o077).toBe(0)
    const text = await readFile(join(host.home, 'identity.json'), 'utf8')
    expect(await readFile(copy, 'utf8')).toBe(text)
    await expect(friend.client.command('restoreIdentity', { from: digits })).rejects.toMatchObject({
      kind: 'bad-input',
    })
    await host.client.command('restoreIdentity', { from: copy })
    expect(await readFile(join(host.home, 'identity.json'), 'utf8')).toBe(text)
  })
})

describe('a job of two agents', () => {
  let invite: string

  it('can be looked at before it is joined, with any invite that still works', async () => {
    ;({ invite } = await host.client.command('host', { job: digitsJob(100_000) }))
    const again = await host.client.command('invite', {})
    expect(again.invite).not.toBe(invite)
    for (const link of [invite, again.invite]) {
      const card = await friend.client.command('preview', { invite: link })
      expect(card).toMatchObject({
        name: 'digits at home',
        hostName: 'host-pc',
        model: 'digits-mlp',
        members: 1,
      })
      expect(card.samplesPerSecond[0]).toBeGreaterThan(0)
      expect(card.samplesPerSecond[1]).toBeGreaterThan(card.samplesPerSecond[0])
      expect(card.uploadBytesPerHour[1]).toBeGreaterThanOrEqual(card.uploadBytesPerHour[0])
      expect(card.memoryBytes).toBeLessThanOrEqual(200_000_000)
      // Two clusters were asked for: the host alone is none, two PCs are enough.
      const { now, withYou, withOneMore } = card.outlook!
      expect(now).toBeNull()
      expect(withYou!.seconds[1]).toBeGreaterThan(withYou!.seconds[0])
      expect(withOneMore!.samplesPerSecond[0]).toBeGreaterThanOrEqual(withYou!.samplesPerSecond[0])
      expect(card.gain).toMatch(/^One more PC like this one would bring/)
    }
    expect((await host.client.command('status', {})).job?.members).toHaveLength(1)
    await expect(host.client.command('preview', { invite })).rejects.toMatchObject({ kind: 'bad-input' })
  })

  it('is trained, and what each gave is counted', async () => {
    await friend.client.command('join', { invite })
    const training = await until(friend, ({ job, contribution }) => {
      return job?.phase === 'training' && contribution.today.samples > 0
    })
    expect(training.contribution.total.trainedSeconds).toBeGreaterThan(0)
    const shown = await until(friend, ({ contribution }) => contribution.today.sentBytes > 0)
    expect(shown.use.memoryBytes).toBeGreaterThan(10_000_000)
  })

  it('is seen by the friend as the host sees it', async () => {
    const seen = await until(friend, ({ job }) => (job?.validationCurve.length ?? 0) > 0)
    const byHost = (await host.client.command('status', {})).job!
    expect(seen.job).toMatchObject({ role: 'member', hostName: 'host-pc' })
    expect(seen.job!.members.map(({ displayName }) => displayName)).toEqual(['host-pc', 'friend-pc'])
    expect(byHost.validationCurve).toEqual(expect.arrayContaining(seen.job!.validationCurve))
    const line = seen.job!.log.find(({ text }) => text === 'friend-pc joined (tfjs-cpu)')
    const wall = byHost.log.find(({ text }) => text === line?.text)!
    expect(Math.abs(line!.atMs - wall.atMs)).toBeLessThan(1_000)
    expect(Math.abs(Date.now() - wall.atMs)).toBeLessThan(600_000)
  })

  it('is paused by a limit and goes on without it, but not past the user’s own pause', async () => {
    await friend.client.command('power', { onBattery: true, idleSeconds: 0 })
    const onBattery = await until(friend, ({ job }) => job?.phase === 'paused')
    expect(stateOf(onBattery, 'trainOnBattery')).toBe('pausing')
    await friend.client.command('pause', { forMs: 3_600_000 })
    await friend.client.command('power', { onBattery: false, idleSeconds: 0 })
    const paused = await until(friend, (snapshot) => stateOf(snapshot, 'trainOnBattery') === 'allows')
    expect(paused.job?.phase).toBe('paused')
    expect(paused.pausedByUser?.untilMs).toBeGreaterThan(Date.now())
    await friend.client.command('resume', {})
    await until(friend, ({ job }) => job?.phase === 'training')
  })

  it('finishes its round first when it is told so, then rests for so long', async () => {
    expect(await friend.client.command('pause', { after: 'round', forMs: 3_600_000 })).toEqual({
      ...{ phase: 'training', waits: true },
    })
    const rests = await until(friend, ({ pausedByUser }) => pausedByUser !== null)
    expect(rests.pauseAfterRound).toBeNull()
    expect(rests.pausedByUser?.untilMs).toBeGreaterThan(Date.now())
    await until(friend, ({ job }) => job?.phase === 'paused')
    await friend.client.command('resume', {})
    await until(friend, ({ job }) => job?.phase === 'training')
    expect((await friend.client.command('pause', {})).waits).toBe(false)
    await friend.client.command('resume', {})
    await until(friend, ({ job }) => job?.phase === 'training')
  })

  it('obeys limits that are set while it trains', async () => {
    const before = await friend.client.command('limits', {})
    // One limit changes, every other stays.
    const metered = await friend.client.command('setLimits', { networkIsMetered: true })
    expect(metered).toEqual({ ...before, networkIsMetered: true })
    await until(friend, ({ job }) => job?.phase === 'paused')
    const capped = { networkIsMetered: false, computeShare: 0.5, uploadBytesPerSecond: 500_000 }
    await friend.client.command('setLimits', capped)
    const again = await until(friend, ({ job }) => job?.phase === 'training')
    expect([stateOf(again, 'computeShare'), stateOf(again, 'uploadBytesPerSecond')]).toEqual([
      'in-force',
      'in-force',
    ])
    await friend.client.command('setLimits', limitsSchema.parse({ memoryBytes: 200_000_000 }))
  })

  it('can be told in a bundle without a word that is private', async () => {
    const { file } = await friend.client.command('diagnostics', { to: folder })
    const text = await readFile(file, 'utf8')
    const { self, addresses } = await friend.client.command('status', {})
    for (const secret of [self, folder, 'friend-pc', 'host-pc', '127.0.0.1', invite, 'digits at home'])
      expect(text).not.toContain(secret)
    for (const address of addresses) expect(text).not.toContain(address)
    expect(text).toContain('== log ==')
    expect(text).toContain('nothing holds this PC back')
  })

  it('is left by a member that the host sends away, and the others keep the model', async () => {
    const { self } = await friend.client.command('status', {})
    await expect(friend.client.command('removeMember', { peer: self })).rejects.toMatchObject({
      kind: 'bad-input',
    })
    await expect(host.client.command('removeMember', { peer: 'nobody' })).rejects.toMatchObject({
      kind: 'bad-input',
    })
    await host.client.command('removeMember', { peer: self })
    const gone = await until(friend, ({ job }) => job?.result != null)
    expect(gone.job?.result?.reason).toBe('the host removed this PC from the job')
    await host.client.command('finish', {})
    const done = await until(host, ({ job }) => job?.result != null)
    expect(done.job?.result).toMatchObject({ outcome: 'stopped' })
    expect(done.job?.result?.model).not.toBeNull()
  })

  it('ends with a model that judges, answers and can be taken away', async () => {
    const model = (await host.client.command('status', {})).job?.result?.model ?? ''
    const data = { type: 'csv', path: digits, label: -1, normalize: 'global' } as const
    const { samples, scores } = await host.client.command('evaluate', { model, data })
    expect(samples).toBe(180)
    expect(scores.accuracy).toBeGreaterThan(0.5)
    const row = join(folder, 'row.csv')
    await writeFile(row, `${Array.from({ length: 64 }, (_, index) => index % 17).join(',')}\n`)
    const [answer] = await host.client.command('predict', { model, input: row })
    expect(answer!.best!.map(({ probability }) => probability).reduce((a, b) => a + b)).toBeGreaterThan(0.5)
    const to = join(folder, 'taken')
    await host.client.command('exportModel', { model, to })
    expect((await readdir(to)).sort()).toEqual(['model.json', 'model.safetensors', 'report.json'])
    await expect(
      host.client.command('exportModel', { model, to: join(folder, 'no', 'where') }),
    ).rejects.toMatchObject({ kind: 'bad-input' })
  })

  it('leaves its count behind, and a reset forgets only what can be had again', async () => {
    const before = (await host.client.command('status', {})).contribution
    expect(before.total.samples).toBeGreaterThan(0)
    await host.client.command('reset', {})
    await host.stop()
    expect(await readdir(host.home)).toEqual(expect.arrayContaining(['shards', 'benchmark.json']))
    host = await start('host-pc')
    expect((await host.client.command('status', {})).contribution.total).toEqual(before.total)
    const left = await readdir(host.home)
    expect(left).not.toContain('benchmark.json')
    expect(left).toEqual(
      expect.arrayContaining(['identity.json', 'settings.json', 'models', 'contribution.json']),
    )
    expect(await readdir(join(host.home, 'shards'))).toEqual([])
  })
})
