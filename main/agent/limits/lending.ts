/** What this PC lends, wired to the machine: the limits' keeper, the count of what was given, the use made of it. */
import { join } from 'node:path'
import { z } from 'zod'
import type { Snapshot } from '../../../shared/messages/control.ts'
import type { Settings } from '../../../shared/settings.ts'
import { second } from '../../../shared/units.ts'
import type { Participation } from '../../core/job/participant.ts'
import { LimitKeeper, type UserPause } from '../../core/limits/keeper.ts'
import type { Log } from '../../core/ports.ts'
import { runsOnBattery } from '../../edge/device/battery.ts'
import { runningPrograms } from '../../edge/device/programs.ts'
import { createUsageMeter } from '../../edge/device/usage.ts'
import type { Swarm } from '../../edge/swarm/swarm.ts'
import { realClock } from '../clock.ts'
import { createKeptFile } from '../kept-file.ts'
import {
  type ContributionCounter,
  contributionFile,
  createContributionCounter,
} from './contribution-counter.ts'
import { createUse } from './use.ts'
import { localDay, wallTime } from './wall-time.ts'

export interface Lending {
  readonly keeper: LimitKeeper
  readonly contribution: ContributionCounter
  /** The part of a snapshot that says what this PC lends. */
  shown(): Pick<Snapshot, 'limits' | 'pausedByUser' | 'pauseAfterRound' | 'contribution' | 'use'>
  /** Keep the limits of a job, and count what it is given, until it ends. */
  serve(participation: Participation, onChange: (listener: () => void) => () => void): void
  /** Put the count on disk. */
  end(): Promise<void>
}

export interface LendingPorts {
  readonly home: string
  readonly log: Log
  readonly settings: () => Settings
  readonly swarm: Pick<Swarm, 'traffic'>
  readonly ring: () => void
}

const pauseFile: z.ZodType<{ readonly pausedByUser: UserPause | null }> = z.object({
  pausedByUser: z.object({ untilMs: z.number().min(0).nullable() }).nullable(),
})

export async function createLending(ports: LendingPorts): Promise<Lending> {
  const { home, log, swarm, ring } = ports
  const pause = createKeptFile(join(home, 'pause.json'), pauseFile)
  const contribution = await createContributionCounter({
    file: createKeptFile(join(home, 'contribution.json'), contributionFile),
    nowMs: () => performance.now(),
    day: localDay,
    traffic: () => swarm.traffic(),
  })
  const keeper = new LimitKeeper(
    {
      ...{ clock: realClock, wall: wallTime, log },
      limits: () => ports.settings().limits,
      battery: () => runsOnBattery(),
      programs: () => runningPrograms(),
      keepPause(pausedByUser) {
        pause.write({ pausedByUser }).catch((error: unknown) => {
          log('warn', 'the pause could not be kept for the next start', { error: String(error) })
        })
      },
      onChange: ring,
    },
    (await pause.read())?.pausedByUser ?? null,
  )
  const use = createUse({
    nowMs: () => performance.now(),
    usage: createUsageMeter(),
    traffic: () => swarm.traffic(),
    later: (deed, afterMs) => setTimeout(deed, afterMs).unref(),
    ring,
  })
  return {
    keeper,
    contribution,
    shown: () => ({
      limits: [...keeper.states()],
      pausedByUser: keeper.userPause,
      pauseAfterRound: keeper.pauseAfterRound,
      contribution: contribution.shown(),
      use: use(),
    }),
    serve(participation, onChange) {
      serve({ keeper, contribution, log }, participation, onChange)
    },
    end: () => contribution.save(),
  }
}

function serve(
  { keeper, contribution, log }: Pick<Lending, 'keeper' | 'contribution'> & { readonly log: Log },
  participation: Participation,
  onChange: (listener: () => void) => () => void,
): void {
  const over = new AbortController()
  contribution.begin()
  void keeper.keep(participation, over.signal)
  const counting = setInterval(() => {
    contribution.look(participation.own())
  }, second)
  // A limit that holds this PC back does so from the first micro-batch on, not from the next look.
  let { state } = participation.own()
  const unsubscribe = onChange(() => {
    const before = state
    state = participation.own().state
    if (state === before) return
    // And a pause that waited for the end of the round is in force from there on.
    if (state === 'training' || before === 'ending-round') keeper.apply()
  })
  void participation.ended.then(async () => {
    over.abort()
    clearInterval(counting)
    unsubscribe()
    contribution.look(participation.own())
    await contribution.save().catch((error: unknown) => {
      log('warn', 'the count of what was given could not be saved', { error: String(error) })
    })
  })
}
