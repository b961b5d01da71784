/** The agent: one home folder, one identity, one place in the swarm, at most one job. Wiring, no decisions. */
import { join } from 'node:path'
import { reportOf } from '../../shared/errors.ts'
import type { Settings } from '../../shared/settings.ts'
import type { Log } from '../core/ports.ts'
import { createControlServer } from '../edge/control/server.ts'
import { createShardStore } from '../edge/data/shards/shard-store.ts'
import { lockHome } from '../edge/store/home.ts'
import { resetIfAsked } from '../edge/store/reset.ts'
import { createVault } from '../edge/store/vault.ts'
import { type AgentParts, snapshotOf } from './agent-parts.ts'
import { createChanges } from './changes.ts'
import { realClock } from './clock.ts'
import { Comeback, joinedFile } from './comeback.ts'
import { handleCommands } from './commands.ts'
import { speedOf } from './device.ts'
import { accelerators, onProcessor, openEngine } from './engine.ts'
import { type Backend, EngineChoice } from './engine-choice.ts'
import { resumeHosted } from './host-job.ts'
import { joinJobOf } from './join-job.ts'
import { createKeptFile } from './kept-file.ts'
import { watchLoop } from './loop-watch.ts'
import { createLending } from './limits/lending.ts'
import { openSwarm } from './open-swarm.ts'
import { takeUp } from './take-up.ts'
import { version } from './version.ts'

export interface Agent {
  readonly socket: string
  /** Resolves after `shutdown` was asked for and everything is given back. */
  readonly ended: Promise<void>
  readonly shutdown: () => void
}

export interface AgentSettings {
  readonly home: string
  readonly settings: Settings
  readonly log: Log
  /** Come back to the job that the last agent on this home had joined. */
  readonly rejoin?: boolean
}

/** @throws AlreadyInUseError for a home or port that is taken; InvalidInputError for a damaged home */
export async function startAgent({ home, settings, log, rejoin }: AgentSettings): Promise<Agent> {
  const lock = await lockHome(home)
  if (await resetIfAsked(home)) log('info', 'benchmarks, data and known peers were forgotten, as asked')
  const swarm = await openSwarm({ home, settings, log, rejoin: rejoin === true }).catch(
    async (error: unknown) => {
      await lock.release()
      throw error
    },
  )
  const end = Promise.withResolvers<undefined>()
  const shutdown = () => {
    end.resolve(undefined)
  }
  const changes = createChanges()
  const lending = await createLending({
    home,
    log,
    swarm,
    settings: () => parts.settings,
    ring: changes.ring,
  })
  const start = engineStarter(home, log, settings.engine.threads)
  const parts: AgentParts = {
    ...{ home, settings, log, swarm, shutdown, changes, lending },
    store: await createShardStore(join(home, 'shards')),
    vault: await createVault(home),
    current: undefined,
    comeback: undefined,
    busy: false,
    backend: settings.engine.backend,
    async startEngine() {
      const engine = await start(parts.settings.engine.backend)
      parts.backend = engine.backend
      return engine
    },
  }
  if (rejoin === true) parts.comeback = comebackOf(parts)
  swarm.setCaps(settings.limits)
  const server = await createControlServer({
    home,
    handlers: handleCommands(parts),
    snapshot: () => snapshotOf(parts),
    onChange: (listener) => parts.changes.subscribe(listener),
  })
  const endWatch = watchLoop(() => parts.current?.participation.view().phase === 'training', log)
  log('info', `agent ${version} runs`, { self: swarm.self, addresses: swarm.addresses() })
  void parts.comeback?.begin()
  const ended = end.promise.then(async () => {
    await parts.comeback?.end()
    if (parts.comeback !== undefined) await parts.current?.participation.suspend()
    await parts.current?.release()
    await lending.end().catch(() => undefined)
    await server.close()
    endWatch()
    await swarm.stop()
    await lock.release()
    log('info', 'agent ended')
  })
  return { socket: server.socket, ended, shutdown }
}

/** Engines on the backend of the settings, or on the one chosen. */
function engineStarter(home: string, log: Log, threads: number) {
  const open = (backend: Backend) => openEngine(backend, threads)
  const choice = new EngineChoice({
    ...{ accelerators, onProcessor, open, log },
    speedOf: async (engine) => (await speedOf(home, engine, threads)).flopsPerSecond,
  })
  return (backend: Backend | 'auto') => (backend === 'auto' ? choice.start() : open(backend))
}

function comebackOf(parts: AgentParts): Comeback {
  const { home, log, changes } = parts
  const comeback = new Comeback({
    ...{ log, clock: realClock, onChange: changes.ring },
    file: createKeptFile(join(home, 'joined.json'), joinedFile),
    isFree: () => !parts.busy,
    hostAgain: () => hostAgain(parts),
    async join(invite) {
      const job = await takeUp(parts, () => joinJobOf(parts, invite, 0))
      await comeback.remember(invite, job.participation.ended)
    },
  })
  return comeback
}

async function hostAgain(parts: AgentParts): Promise<boolean> {
  const { vault, log } = parts
  const found = await vault.newestHostedRun()
  if (found === undefined) return false
  try {
    await takeUp(parts, () => resumeHosted(parts, found))
    return true
  } catch (error) {
    log('warn', `a job that this PC hosted cannot go on: ${reportOf(error).message}`)
    return false
  }
}
