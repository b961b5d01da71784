/** A whole pool in one process: the real core of every participant on fake links, engines and disks, in virtual time. */
import { requestAdmission } from '../../main/core/job/admission.ts'
import type { HostedJob } from '../../main/core/job/host/host-state.ts'
import { hostJob, joinJob, type Participation } from '../../main/core/job/participant.ts'
import { layoutOfJob, type LayoutRequest } from '../../main/core/job/job-layout.ts'
import type {
  FinishedModel,
  Log,
  SavedRun,
  ShardStore,
  StageEngine,
  StateVector,
  Vault,
} from '../../main/core/ports.ts'
import { AbortedError, DiskFullError, InvariantError } from '../../shared/errors.ts'
import type { JobSpec } from '../../shared/job/spec.ts'
import { jobSpec } from '../../shared/job/spec.ts'
import type { WireMessage } from '../../shared/messages/wire.ts'
import type { JobResult, JobView } from '../../shared/messages/control.ts'
import { createRng, seedFrom } from '../../shared/random.ts'
import { createFakeBatches } from '../fakes/batches.ts'
import { createVirtualClock, type VirtualClock } from '../fakes/clock.ts'
import { createFakeEngine } from '../fakes/engine.ts'
import { createFakeNetwork, type FakeNetwork } from '../fakes/links.ts'
import { skewedClock, type Skew } from '../fakes/skewed-clock.ts'

export const job = 'a'.repeat(64)
const classes = 4
const width = 8

/** Enough layers to be cut in 2 and in 3; dense layers are the memory. */
const layers = [16, 16, 16, 16, 16].flatMap((units, index) => [
  { type: 'dense', name: `dense-${index}`, units },
  { type: 'relu', name: `relu-${index}` },
])

/** A small job on made-up data that can be learned. */
export function smallJob(
  changes: { updates?: number; samples?: number; everyUpdates?: number } = {},
): JobSpec {
  const column = {
    dtype: 'float32',
    shape: [width],
    shards: [{ hash: 'b'.repeat(64), bytes: 1, samples: 1 }],
  }
  return jobSpec.parse({
    name: 'scenario',
    graph: {
      format: 'rookery-model/1',
      name: 'small',
      task: 'classify',
      input: { type: 'values', shape: [width] },
      layers: [...layers, { type: 'dense', name: 'head', units: classes }],
      loss: { type: 'cross-entropy' },
    },
    data: {
      format: 'rookery-data/1',
      trainSamples: changes.samples ?? 400,
      validationSamples: 40,
      inputs: column,
      labels: column,
    },
    recipe: {
      schedule: { microBatch: 8 },
      sync: { averageEveryUpdates: 4 },
      optimizer: { type: 'sgd', learningRate: 0.05, momentum: 0.9 },
    },
    target: { updates: changes.updates ?? 24 },
    validation: { everyUpdates: changes.everyUpdates ?? 8 },
    seed: 7,
  })
}

/** One PC of the pool. */
export interface Member {
  readonly name: string
  readonly participation: Participation
  readonly savedStages: { readonly updates: number; readonly state: StateVector }[]
}

export interface ScenarioSettings {
  readonly spec?: JobSpec
  /** Bytes each peer lends; the first is the host's. */
  readonly memories: readonly number[]
  /** The host begins with so many PCs; default those of `memories`. */
  readonly awaits?: number
  readonly clusters?: number
  readonly seed?: number
  readonly continueFrom?: FinishedModel
  /** What an earlier host of this run wrote down. */
  readonly resume?: SavedRun
  /** Milliseconds of an engine call; default 1 to 5. */
  readonly engineMs?: readonly [number, number]
  /** A message is under way for so long; default 1 to 5. */
  readonly delayMs?: readonly [number, number]
  /** Of each PC's line upwards, for parameters; default no limit. */
  readonly uploadBytesPerSecond?: number
  /** How wrong the clock of a PC is; default right. */
  readonly skewOf?: (name: string) => Skew
  /** What each PC's benchmark says; default 1e9. */
  readonly flopsPerSecond?: number
  /** All of them are agents of one machine with so many processors; default each has its own. */
  readonly processors?: number
  /** A search for a plan of this pool never ends by itself. */
  readonly isEndless?: (pool: LayoutRequest['pool']) => boolean
  /** What the host knows of its PCs from earlier jobs, and hears at the end of this one. */
  readonly learning?: Pick<HostedJob, 'learned' | 'onLearned'>
  /** PCs whose disk takes no more. */
  readonly fullDisks?: readonly string[]
  /** Sees every message as it arrives. */
  readonly tap?: (from: string, to: string, message: WireMessage, nowMs: number) => void
  /** Messages that get lost on the way. */
  readonly drop?: (from: string, to: string, message: WireMessage, nowMs: number) => boolean
  /** Messages that come a second time, so many milliseconds later. */
  readonly again?: (from: string, to: string, message: WireMessage) => number | undefined
}

export interface Scenario {
  readonly clock: VirtualClock
  readonly network: FakeNetwork
  /** The newest one. */
  readonly host: Member
  readonly members: readonly Member[]
  readonly taught: Taught
  readonly savedModels: FinishedModel[]
  /** What the host wrote down, newest last. */
  readonly savedRuns: SavedRun[]
  readonly warnings: string[]
  /** The newest one of a PC. */
  engineOf(name: string): StageEngine
  /** One more PC asks to join. */
  join(name: string, memoryBytes: number): Promise<Member>
  /** The PC is gone from one moment to the next. */
  lose(name: string): Promise<void>
  /** The PC that is gone starts its agent anew and asks to join. */
  comeBack(name: string, memoryBytes: number): Promise<Member>
  /** The host's PC is gone and starts its agent anew: it goes on with what it wrote down last. */
  hostAgain(): void
  /** Let time pass until the host's view says so. */
  until(condition: (view: Omit<JobView, 'invite'>) => boolean): Promise<void>
  /** Let time pass until the job is over for this PC. */
  end(member: Member): Promise<JobResult>
}

/** Training rows that some leaf was given, by epoch, in the order they came. */
export type Taught = Map<number, number[]>

const shardStore = ({ seed, data }: JobSpec, taught: Taught): ShardStore => ({
  has: () => Promise.resolve(true),
  read: () => Promise.resolve(undefined),
  received: () => Promise.resolve(0),
  append: () => Promise.resolve(),
  seal: () => Promise.resolve(true),
  open: () =>
    createFakeBatches({
      ...{ seed, shape: [width], classes },
      onAsked(what, { epoch, rows }) {
        const training = [...rows].filter((row) => row < data.trainSamples)
        if (what === 'labels') taught.set(epoch, [...(taught.get(epoch) ?? []), ...training])
      },
    }),
})

const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    const stop = () => {
      reject(new AbortedError('the planning was stopped'))
    }
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
  })
const delayOf = ({ delayMs = [1, 5] }: ScenarioSettings) => delayMs
const addressesIn = ({ processors }: ScenarioSettings) =>
  processors === undefined ? [] : ['/ip4/127.0.0.1/tcp/4001']
const processorsOf = ({ processors }: ScenarioSettings) => (processors === undefined ? {} : { processors })
const lineOf = ({ uploadBytesPerSecond }: ScenarioSettings) =>
  uploadBytesPerSecond === undefined ? {} : { uploadBytesPerSecond }
const awaitedBy = ({ awaits, memories }: ScenarioSettings) => awaits ?? memories.length
const clockOf = (name: string, clock: VirtualClock, { skewOf }: ScenarioSettings) =>
  skewOf === undefined ? clock : skewedClock(clock, skewOf(name))
/** What a vault gives back: the newest book with the newest checkpoint. @throws InvariantError when nothing was written */
function lastRunOf(runs: readonly SavedRun[]): SavedRun {
  const newest = runs.at(-1)
  if (newest === undefined) throw new InvariantError('the host wrote nothing down')
  const checkpoint = runs.findLast((run) => run.checkpoint !== undefined)?.checkpoint
  return structuredClone({ book: newest.book, checkpoint })
}

/** Start a host and its members; they gather at once. */
export async function startScenario(settings: ScenarioSettings): Promise<Scenario> {
  const {
    spec = smallJob(),
    memories,
    clusters,
    seed = 1,
    continueFrom,
    fullDisks = [],
    tap = () => undefined,
    drop = () => false,
  } = settings
  const [least, most] = settings.engineMs ?? [1, 5]
  const clock = createVirtualClock()
  const network = createFakeNetwork({
    clock,
    seed,
    delayMs: delayOf(settings),
    tap: (from, to, message) => {
      tap(from, to, message, clock.now())
    },
    drop: (from, to, message) => drop(from, to, message, clock.now()),
    ...(settings.again === undefined ? {} : { again: settings.again }),
    ...lineOf(settings),
  })
  const engines = new Map<string, StageEngine>()
  const taught: Taught = new Map()
  const savedModels: FinishedModel[] = []
  const savedRuns: SavedRun[] = []
  const warnings: string[] = []
  const log: Log = (level, text) => {
    if (level === 'warn' || level === 'error') warnings.push(text)
  }

  function portsOf(name: string) {
    const rng = createRng(seedFrom(seed, name))
    const savedStages: Member['savedStages'] = []
    const vault: Vault = {
      saveModel: (_job, model) => {
        savedModels.push(model)
        return Promise.resolve('/models/scenario')
      },
      saveRun: (_job, run) => {
        savedRuns.push(structuredClone(run))
        return Promise.resolve()
      },
      saveStage: (_job, stage) => {
        if (fullDisks.includes(name)) return Promise.reject(new DiskFullError('the disk is full'))
        savedStages.push(stage)
        return Promise.resolve()
      },
    }
    const engine = createFakeEngine({ clock, delay: () => least + (most - least) * rng.next() })
    engines.set(name, engine)
    return {
      links: network.linksOf(name),
      clock: clockOf(name, clock, settings),
      log,
      engine,
      store: shardStore(spec, taught),
      vault,
      savedStages,
      processorMs: () => clock.now(),
    }
  }

  const device = (name: string, memoryBytes: number) => ({
    displayName: name,
    backend: 'kernels-wide',
    memoryBytes,
    flopsPerSecond: settings.flopsPerSecond ?? 1e9,
  })
  const hosted: HostedJob = {
    job,
    spec,
    gathering: { peers: awaitedBy(settings), deadlineSeconds: 60, clusters },
    device: device('host', memories[0]!),
    continueFrom,
    ...(settings.resume === undefined ? {} : { resume: settings.resume }),
    ...settings.learning,
    ...processorsOf(settings),
    issueCertificate: (peer) =>
      Promise.resolve({ job, peer, role: 'member', expiresAt: 1, signature: '0'.repeat(128) }),
    checkSecret: (secret) => (secret === 'secret' ? undefined : 'wrong-secret'),
  }
  function startHost(changes: Partial<HostedJob> = {}): Member {
    const ports = {
      ...portsOf('host'),
      plan: (request: LayoutRequest, signal: AbortSignal) =>
        settings.isEndless?.(request.pool) === true
          ? untilAborted(signal)
          : Promise.resolve(layoutOfJob(request)),
    }
    const participation = hostJob(ports, { ...hosted, ...changes }, () => undefined)
    return { name: 'host', participation, savedStages: ports.savedStages }
  }
  let host = startHost()

  async function join(name: string, memoryBytes: number): Promise<Member> {
    const ports = portsOf(name)
    const admission = requestAdmission(ports, {
      host: 'host',
      request: { job, secret: 'secret', device: device(name, memoryBytes), addresses: addressesIn(settings) },
      signal: new AbortController().signal,
      onAdmitted: () =>
        joinJob(
          ports,
          { job, name: spec.name, host: 'host', displayName: name, memoryBytes },
          () => undefined,
        ),
    })
    return { name, participation: await clock.runUntil(admission), savedStages: ports.savedStages }
  }

  const members: Member[] = []
  for (const [index, memoryBytes] of memories.slice(1).entries())
    members.push(await join(`pc-${index + 1}`, memoryBytes))

  return {
    ...{ clock, network, members, taught, savedModels, savedRuns, warnings, join },
    get host() {
      return host
    },
    engineOf(name) {
      const engine = engines.get(name)
      if (engine === undefined) throw new InvariantError(`there is no ${name}`)
      return engine
    },
    hostAgain() {
      network.restart('host')
      host = startHost({ resume: lastRunOf(savedRuns) })
    },
    comeBack(name, memoryBytes) {
      network.restart(name)
      return join(name, memoryBytes)
    },
    lose: (name) => clock.runUntil(network.sever(name)),
    async until(condition) {
      const seen = async () => {
        for (let view = host.participation.view(); !condition(view); view = host.participation.view()) {
          if (view.result !== null)
            throw new InvariantError(
              `the job ended before: ${view.result.reason}\n${view.log.map(({ atMs, text }) => `${Math.round(atMs)} ms: ${text}`).join('\n')}`,
            )
          await clock.sleep(1)
        }
      }
      await clock.runUntil(seen())
    },
    end: (member) => clock.runUntil(member.participation.ended),
  }
}
