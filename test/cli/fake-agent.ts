/**
 * An agent without swarm and engine for tests of the faces: the real control socket, and jobs that live as their
 * name says: `quick` finishes, `endless` trains until it is told to end, `waiting` gathers until `start`,
 * `broken` fails, `crash` takes the agent along.
 */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { InvalidInputError } from '../../shared/errors.ts'
import type { JobResult, JobView, Snapshot } from '../../shared/messages/control.ts'
import { createControlServer } from '../../main/edge/control/server.ts'
import { limits } from '../../shared/limits.ts'
import { nothingLent, refusals } from '../edge/control/example-state.ts'
import { exampleCard, exampleJob, exampleMember } from './example-job.ts'

const { values } = parseArgs({
  options: {
    home: { type: 'string', default: '' },
    memory: { type: 'string', default: '0' },
    'display-name': { type: 'string', default: 'fake' },
    address: { type: 'string' },
    port: { type: 'string' },
    backend: { type: 'string', default: 'auto' },
    threads: { type: 'string' },
    'no-local-discovery': { type: 'boolean', default: false },
    attached: { type: 'boolean', default: false },
    rejoin: { type: 'boolean', default: false },
  },
})
const { home } = values
const name = values['display-name']
mkdirSync(home, { recursive: true })

if (values.backend === 'nonsense') {
  process.stderr.write('settings: engine.backend: there is no engine "nonsense"\n')
  process.exit(2)
}
writeFileSync(join(home, 'pid'), String(process.pid))
/** What happened here, for the test to read. */
const note = (text: string): void => {
  appendFileSync(join(home, 'notes'), `${text}\n`)
}
note(
  `flags ${process.argv
    .slice(2)
    .filter((flag) => flag !== home && flag !== '--home')
    .join(' ')}`,
)

let agreed = limits.parse({})
let job: JobView | null = null
const listeners = new Set<() => void>()
const show = (change: Partial<JobView>): void => {
  if (job !== null) job = { ...job, ...change }
  for (const listener of listeners) listener()
}
const snapshot = (): Snapshot => ({
  version: '0.1.0',
  self: name,
  displayName: name,
  home,
  addresses: [],
  backend: 'fake',
  ...nothingLent,
  job,
})

function resultOf(outcome: JobResult['outcome'], keepsModel: boolean): JobResult {
  const model = keepsModel ? join(home, 'model') : null
  if (model !== null) {
    mkdirSync(model, { recursive: true })
    writeFileSync(join(model, 'model.json'), JSON.stringify({ by: name }))
  }
  return {
    outcome,
    code: outcome,
    reason: outcome === 'failed' ? 'the loss is not a number' : '',
    model,
    validation: { loss: 0.25, accuracy: 0.94, top5: 1, perplexity: 1.28 },
    updates: job?.updates ?? 0,
    samples: job?.samples ?? 0,
    seconds: 1,
    bytesSent: { activations: 1000, gradients: 900, parameters: 5000, data: 300 },
    maxStaleness: 2,
  }
}

const end = (outcome: JobResult['outcome'], keepsModel: boolean): void => {
  show({ phase: 'ended', text: '', result: resultOf(outcome, keepsModel) })
}

/** As many updates as the target says, one a turn of the event loop. */
function train(life: string): void {
  show({ phase: 'training', text: '' })
  const turn = (): void => {
    if (job?.phase !== 'training') return
    const updates = job.updates + 1
    show({ updates, samples: updates * 64, samplesPerSecond: 640, secondsLeft: [1, 2] })
    if (life === 'crash') process.exit(3)
    if (life === 'broken') end('failed', false)
    else if (life !== 'endless' && updates >= job.targetUpdates) end('finished', job.role === 'host')
    else if (life !== 'endless' || updates < 10) setImmediate(turn)
  }
  turn()
}

function begin(life: string, change: Partial<JobView>): void {
  job = {
    ...exampleJob,
    name: life,
    phase: 'gathering',
    text: 'waiting for peers',
    trainingCurve: [],
    validationCurve: [],
    updates: 0,
    samples: 0,
    ...change,
  }
  note(`job ${life}`)
  show({})
  if (life !== 'waiting') setImmediate(train, life)
}

/** The demo names its jobs itself; they finish. */
const lifeOf = (text: string): string => text.split(' ')[0] ?? ''

const server = await createControlServer({
  home,
  snapshot,
  onChange(listener) {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  handlers: {
    ...refusals,
    limits: () => Promise.resolve(agreed),
    setLimits(change) {
      agreed = limits.parse({ ...agreed, ...change })
      return Promise.resolve(agreed)
    },
    status: () => Promise.resolve(snapshot()),
    host({ job: file }) {
      const peers = file.gathering.peers ?? 1
      writeFileSync(join(home, 'job.json'), JSON.stringify(file))
      const names = [name, ...Array.from({ length: peers - 1 }, (_, index) => `peer-${index + 2}`)]
      const members = names.map((peer) => exampleMember(peer, { peakTensorBytes: 100 * peer.length }))
      begin(lifeOf(file.name), { role: 'host', targetUpdates: file.target.updates, members })
      return Promise.resolve({ job: exampleJob.job, invite: `fake:${lifeOf(file.name)}` })
    },
    join({ invite }) {
      if (!invite.startsWith('fake:')) {
        return Promise.reject(new InvalidInputError('this is no invite; copy the whole line'))
      }
      const life = invite.slice('fake:'.length)
      begin(life, { role: 'member', targetUpdates: 20, invite: null })
      return Promise.resolve({ job: exampleJob.job, name: life })
    },
    preview({ invite }) {
      if (!invite.startsWith('fake:'))
        return Promise.reject(new InvalidInputError('this is no invite; copy the whole line'))
      note('preview')
      return Promise.resolve({ ...exampleCard, name: invite.slice('fake:'.length) })
    },
    forecastHost({ job: file, peers }) {
      note(`forecast ${peers}`)
      return Promise.resolve({
        byPeers: [
          {
            ...{ peers: 1, fits: false, seconds: [0, 0], samplesPerSecond: [0, 0] },
            ...{ memoryBytes: 0, uploadBytesPerHour: 0 },
          },
          {
            ...{ peers: 2, fits: true, seconds: [60, 7200], samplesPerSecond: [100, 240] },
            ...{ memoryBytes: 2 ** 20, uploadBytesPerHour: 1.5e9 },
          },
        ],
        limitedBy: `${file.name} fits from 2 PCs like this one on.`,
      })
    },
    start() {
      note('start')
      train('quick')
      return Promise.resolve(null)
    },
    pause({ after, forMs }) {
      if (job === null) return Promise.reject(new InvalidInputError('there is no job to pause'))
      note(`pause ${after ?? 'now'} ${forMs ?? 'until resume'}`)
      const waits = after === 'round'
      if (!waits) show({ phase: 'paused' })
      return Promise.resolve({ phase: waits ? ('training' as const) : ('paused' as const), waits })
    },
    resume: () => Promise.resolve(null),
    finish() {
      note('finish')
      end('finished', true)
      return Promise.resolve(null)
    },
    leave() {
      note('leave')
      end('stopped', false)
      return Promise.resolve(null)
    },
    shutdown() {
      note('shutdown')
      setImmediate(() => void server.close().then(() => process.exit(0)))
      return Promise.resolve(null)
    },
  },
})
process.stdin.on('end', () => {
  note('stdin closed')
  process.exit(0)
})
process.stdin.resume()
process.stdout.write(`${JSON.stringify({ event: 'ready', socket: server.socket })}\n`)
