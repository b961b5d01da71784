import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { agentPid, lives, notesOf, runCommand, startCommand, until } from './command-run.ts'
import { exampleCard } from './example-job.ts'

let folder = ''
let home = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rookery-cli-'))
  home = join(folder, 'home')
  writeFileSync(join(folder, 'data.csv'), '1,2\n')
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

function writeJob(name: string, change: Record<string, unknown> = {}): string {
  const path = join(folder, `${name}.json`)
  const job = { name, model: 'digits-cnn', target: { updates: 20 }, data: { type: 'csv', path: 'data.csv' } }
  writeFileSync(path, JSON.stringify({ ...job, ...change }))
  return path
}

const host = (name: string, ...more: string[]): string[] => ['host', writeJob(name), '--home', home, ...more]

describe('rookery host without an agent', () => {
  it('runs one, prints the invite, follows the job to its end and leaves no process', async () => {
    const { code, stdout, events } = await runCommand(host('quick', '--json'))
    expect({ code, lines: stdout.split('\n').length > 3 }).toEqual({ code: 0, lines: true })
    const seen = events()
    expect(seen[0]).toMatchObject({ event: 'invite', invite: 'fake:quick' })
    expect(seen.at(-1)).toMatchObject({ event: 'result', outcome: 'finished', model: join(home, 'model') })
    expect(seen.filter(({ event }) => event === 'result')).toHaveLength(1)
    expect(notesOf(home)).toEqual(['flags --attached', 'job quick', 'shutdown'])
    expect(lives(agentPid(home))).toBe(false)
  })

  it('passes its flags to the agent', async () => {
    const flags = ['--memory', '1.5MiB', '--name', 'old pc', '--port', '4100', '--no-local-discovery']
    await runCommand(host('quick', ...flags))
    expect(notesOf(home)[0]).toBe(
      'flags --memory 1572864 --display-name old pc --port 4100 --no-local-discovery --attached',
    )
  })

  it('finishes and keeps the model at the first Ctrl-C', async () => {
    const run = startCommand(host('endless', '--json'))
    await run.saw('"phase":"training"')
    run.signal('SIGINT')
    const { code, events, stderr } = await run.ended
    expect(code).toBe(0)
    expect(events().at(-1)).toMatchObject({
      event: 'result',
      outcome: 'finished',
      model: join(home, 'model'),
    })
    expect(stderr).toContain('the model is kept')
    expect(notesOf(home).slice(-2)).toEqual(['finish', 'shutdown'])
    expect(lives(agentPid(home))).toBe(false)
  })

  it('leaves at Ctrl-C while there is nothing to keep', async () => {
    const run = startCommand(host('waiting'))
    await run.saw('waiting for peers')
    run.signal('SIGTERM')
    expect((await run.ended).code).toBe(0)
    expect(notesOf(home).slice(-2)).toEqual(['leave', 'shutdown'])
  })

  it('takes the agent along when it is killed', async () => {
    const run = startCommand(host('endless'))
    await run.saw('training')
    const pid = agentPid(home)
    expect(lives(pid)).toBe(true)
    run.signal('SIGKILL')
    await until(() => !lives(pid))
    expect(notesOf(home).at(-1)).toBe('stdin closed')
  })

  it('fails in one sentence when the job fails, and when the agent dies', async () => {
    const broken = await runCommand(host('broken', '--json'))
    expect(broken.code).toBe(1)
    expect(broken.events().at(-1)).toMatchObject({ outcome: 'failed', reason: 'the loss is not a number' })
    const crash = await runCommand(host('crash', '--json'))
    expect(crash.code).toBe(1)
    expect(crash.events().at(-1)).toMatchObject({ event: 'result', error: { code: 'agent-ended' } })
    expect(crash.stderr).toMatch(/rookery: the agent ended before the job did\n$/)
  })

  it('says with --forecast how long it would take, and hosts nothing', async () => {
    const { code, stdout } = await runCommand(host('quick', '--forecast'))
    expect(code).toBe(0)
    expect(stdout).toBe(` PCs                time           samples/s        memory  upload an hour
   1        does not fit
   2    60 s – 2 h 0 min             100–240       1.0 MiB          1.5 GB
quick fits from 2 PCs like this one on.
With PCs like this one, in one home or in several; memory and upload are those of the PC that is given most.
`)
    expect(notesOf(home).slice(-2)).toEqual(['forecast 8', 'shutdown'])
  })

  it('says with exit 2 what is wrong with a job file, and starts nothing', async () => {
    const faults: [Record<string, unknown>, string][] = [
      [{ target: { updates: 0 } }, 'target.updates'],
      [{ data: { type: 'csv', path: 'gone.csv' } }, 'data.path: there is no readable file'],
      [{ data: { type: 'parquet' } }, 'data.type'],
      [{ model: { format: 'rookery-model/2' } }, 'model.format: expected "rookery-model/1"'],
      [{ colour: 'blue' }, 'Unrecognized key: "colour"'],
    ]
    for (const [change, sentence] of faults) {
      const path = writeJob('quick', change)
      const { code, stderr, stdout } = await runCommand(['host', path, '--home', home])
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).toContain(`rookery: quick.json: ${sentence}`)
      expect(stderr.trim().split('\n')).toHaveLength(1)
    }
    expect(agentPid(home)).toBe(0)
  })

  it('repeats the sentence of an agent that refuses its settings, with exit 2', async () => {
    const { code, stderr } = await runCommand(host('quick', '--backend', 'nonsense'))
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'rookery: settings: engine.backend: there is no engine "nonsense"\n',
    })
  })
})

describe('rookery join without an agent', () => {
  it('trains as a member until the job ends', async () => {
    const { code, events } = await runCommand(['join', 'fake:quick', '--home', home, '--json'])
    expect(code).toBe(0)
    expect(events()[0]).toMatchObject({ event: 'forecast', name: 'quick', outlook: exampleCard.outlook })
    expect(events()[1]).toMatchObject({ event: 'joined', name: 'quick' })
    expect(events().at(-1)).toMatchObject({ event: 'result', outcome: 'finished', model: null })
  })

  it('leaves in order at Ctrl-C', async () => {
    const run = startCommand(['join', 'fake:endless', '--home', home])
    await run.saw('training')
    run.signal('SIGINT')
    const { code, stdout } = await run.ended
    expect(code).toBe(0)
    expect(stdout).toContain('endless stopped')
    expect(notesOf(home).slice(-2)).toEqual(['leave', 'shutdown'])
  })

  it('says with --forecast what it would bring and cost, and joins nothing', async () => {
    const { code, stdout } = await runCommand(['join', 'fake:quick', '--home', home, '--forecast'])
    expect(code).toBe(0)
    expect(stdout).toBe(`“quick” of ann’s PC: digits-cnn, 15,578 parameters
  the pool now   2 PCs, too little memory for this model
  with this PC   100–150 samples/s, done in 60 min – 2 h 0 min
  and one more   150–200 samples/s, done in 50–90 min
  this PC alone  50–100 samples/s
  memory         at most 8.0 MiB
  upload         1.0–2.0 GB an hour of training, 24.0–48.0 GB a day
  download       1.0 GB an hour of training, 24.0 GB a day
  The processor of this PC is what limits it.
  One more PC like this one would bring 40 % more samples a second.
`)
    expect(notesOf(home).slice(-2)).toEqual(['preview', 'shutdown'])
  })

  it('refuses what is no invite with exit 2 and ends its agent', async () => {
    const { code, stderr } = await runCommand(['join', 'hello', '--home', home])
    expect(code).toBe(2)
    expect(stderr).toBe(
      'asking the host what joining would bring\nrookery: this is no invite; copy the whole line\n',
    )
    expect(lives(agentPid(home))).toBe(false)
  })
})

describe('commands to an agent that runs', () => {
  it('steer it, and none of them ends it', async () => {
    const agent = startCommand(['agent', '--home', home])
    await agent.saw('the agent runs on')
    const tell = (...args: string[]) => runCommand([...args, '--home', home])
    expect(await tell('pause')).toMatchObject({ code: 2, stderr: 'rookery: there is no job to pause\n' })

    const watching = startCommand(['host', writeJob('waiting'), '--home', home])
    await watching.saw('waiting for peers')
    watching.signal('SIGINT')
    const detached = await watching.ended
    expect(detached.code).toBe(0)
    expect(detached.stderr).toContain('the job goes on')

    const status = await tell('status')
    expect(status.stdout).toContain('waiting')
    expect(status.stdout).toContain('invite: rookery:invite')
    expect((await tell('start', '--json')).events()).toEqual([{ event: 'result', command: 'start' }])
    const json = await tell('status', '--json')
    expect(json.events()).toEqual([expect.objectContaining({ event: 'result', displayName: 'fake' })])

    agent.signal('SIGINT')
    expect((await agent.ended).code).toBe(0)
    expect(notesOf(home)).toEqual(['flags --rejoin --attached', 'job waiting', 'start', 'shutdown'])
    expect(lives(agentPid(home))).toBe(false)
  })

  it('pause now or after the round, for a while or until resume', async () => {
    const member = startCommand(['join', 'fake:endless', '--home', home])
    await member.saw('training')
    const pause = (...args: string[]) => runCommand(['pause', ...args, '--home', home])
    const waits = await pause('--after-round', '--for', '90m')
    expect(waits).toMatchObject({ code: 0, stdout: 'finishing this round, then pausing\n' })
    expect((await pause('--after-round', '--json')).events()).toEqual([
      { event: 'result', command: 'pause', phase: 'training', waits: true },
    ])
    expect(await pause('--for', 'ever')).toMatchObject({
      code: 2,
      stderr: 'rookery: "ever" is no time to pause for; write for example 90m or 4h\n',
    })
    expect(await pause('--for', '4h')).toMatchObject({ code: 0, stdout: 'pausing\n' })
    expect(notesOf(home).filter((note) => note.startsWith('pause'))).toEqual([
      'pause round 5400000',
      'pause round until resume',
      'pause now 14400000',
    ])
    member.signal('SIGINT')
    await member.ended
  })

  it('say with exit 2 that none runs', async () => {
    for (const command of ['status', 'pause', 'resume', 'start', 'finish', 'leave']) {
      const { code, stderr, events } = await runCommand([command, '--home', home, '--json'])
      expect(code).toBe(2)
      expect(stderr).toContain('no agent runs on')
      expect(events()).toEqual([
        { event: 'result', error: expect.objectContaining({ code: 'agent-not-running' }) as unknown },
      ])
    }
  })
})

describe('one-shot commands', () => {
  const peer = (memoryBytes: number) => ({
    id: 'a',
    memoryBytes,
    flopsPerSecond: 1,
    uploadBytesPerSecond: 1,
    downloadBytesPerSecond: 1,
  })
  const plan = (pool: unknown, ...more: string[]) => {
    writeFileSync(join(folder, 'pool.json'), JSON.stringify(pool))
    return runCommand(['plan', '--pool', join(folder, 'pool.json'), ...more])
  }

  it('simulate refuses what is no simulation in one sentence, and says when the model does not fit', async () => {
    writeFileSync(join(folder, 'pool.json'), JSON.stringify({ peers: [peer(1000)] }))
    const simulate = (...more: string[]) =>
      runCommand(['simulate', '--pool', join(folder, 'pool.json'), ...more])
    for (const [args, sentence] of [
      [['--model', 'm', '--minutes', '0'], '--minutes takes a number above 0 up to 10080, not "0"'],
      [['--model', 'm', '--loss', '0.9'], '--loss takes a number from 0 up to 0.5, not "0.9"'],
      [['--model', 'm', '--mtbf', 'often'], '--mtbf takes a number above 0 up to 1000000000, not "often"'],
      [[], 'give either --model or --profile, not both'],
    ] as const)
      expect(await simulate(...args)).toMatchObject({ code: 2, stderr: `rookery: ${sentence}\n` })
    const { code, events } = await simulate('--model', 'gpt-mini', '--json')
    expect({ code, events: events() }).toEqual({
      code: 2,
      events: [{ event: 'result', feasible: false, shortfallBytes: 7, reason: 'too little memory' }],
    })
  })

  it('plan prints the plan, and with --json the result line of the promise', async () => {
    const said = await plan({ peers: [peer(1000)] }, '--model', 'gpt-mini', '--seed', '1')
    expect(said.code).toBe(0)
    expect(said.stdout).toContain('Cluster B')
    expect(said.stdout).toContain('why not faster: The speed of a holds the pool back.')
    expect(said.stdout).toContain('+25 % (13 samples/s): a twice as fast')
    const { events } = await plan({ peers: [peer(1000)] }, '--model', 'gpt-mini', '--json')
    expect(events()).toEqual([expect.objectContaining({ event: 'result', feasible: true, planSeconds: 0 })])
  })

  it('plan exits with 2 and the missing bytes when the model does not fit', async () => {
    const { code, events, stderr } = await plan({ peers: [peer(400)] }, '--model', 'gpt-mini', '--json')
    expect(code).toBe(2)
    expect(events()).toEqual([
      { event: 'result', feasible: false, shortfallBytes: 600, reason: 'too little memory' },
    ])
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })

  it('plan wants one model, and names the field of a pool that is wrong', async () => {
    expect(await plan({ peers: [peer(1)] })).toMatchObject({ code: 2 })
    const wrong = await plan({ peers: [{ ...peer(1), memoryBytes: '4G' }] }, '--model', 'x')
    expect(wrong.code).toBe(2)
    expect(wrong.stderr).toContain('pool.json: peers.0.memoryBytes: give bytes from 0')
  })

  it('bench, evaluate and predict end with their result', async () => {
    mkdirSync(join(folder, 'm'))
    const model = join(folder, 'm')
    const last = async (...args: string[]) => (await runCommand([...args, '--json'])).events().at(-1)
    expect(await last('bench', 'device')).toMatchObject({ event: 'result', flopsPerSecond: 1e10, threads: 3 })
    expect(await last('bench', 'device', '--threads', '2')).toMatchObject({ threads: 2 })
    expect((await runCommand(['bench', 'device', '--threads', '2'])).stdout).toContain('auto, on 2 threads')
    expect(await last('evaluate', model, '--data', 'x.csv')).toMatchObject({
      event: 'result',
      accuracy: 0.95,
    })
    expect(await last('predict', model, '--input', '/x.csv')).toMatchObject({
      event: 'result',
      predictions: [{ sample: '/x.csv' }],
    })
  })
})

describe('the command line', () => {
  it('refuses what it does not know with exit 2', async () => {
    const unknown = await runCommand(['status', '--colour', '--json'])
    expect(unknown.code).toBe(2)
    expect(unknown.events()).toEqual([
      { event: 'result', error: expect.objectContaining({ kind: 'bad-input' }) as unknown },
    ])
    expect((await runCommand(['simulate'])).code).toBe(2)
    expect((await runCommand([])).code).toBe(2)
  })
})
