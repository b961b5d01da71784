/** What a lost stage cannot take with it: the host keeps a whole model that is never much older than a minute or so. */
import { type Millis, second } from '../../../../shared/units.ts'
import { planOf } from '../plan-in-force.ts'
import { dataLeft, trainedOf } from './books.ts'
import { type Collection, collect } from './collect.ts'
import type { HostState } from './host-state.ts'
import { keepRun } from './run-keeping.ts'
import { keepWhole } from './take-stock.ts'

const atMostEveryMs = 10 * second
/** Where only one cluster trains: what a PC of it takes along has nobody else. */
const aloneEveryMs = 4 * second
/** One that failed, with a stage that is gone, is made up for by another cluster. */
const againAfterMs = second
/** Of the time, so that the line stays free for the training. */
const shareOfTime = 1 / 20

/** @param restMs - the least from then */
const dueFrom = (ms: Millis, restMs: Millis) => ({
  aloneMs: ms + restMs,
  usualMs: ms + Math.max(restMs, atMostEveryMs),
})

/**
 * Take one after the other until `enough`; a stage that was asked is heard to its end, so that what it sends is asked for.
 * Never rejects.
 */
export async function keepCheckpoints(
  host: HostState,
  { signal, enough }: { readonly signal: AbortSignal; readonly enough: AbortSignal },
): Promise<void> {
  const { clock, log } = host.ports
  const beginsMs = clock.now()
  const isAlone = () => planOf(host).active.length === 1
  try {
    for (;;) {
      const due = (host.checkpointDue ??= dueFrom(beginsMs, aloneEveryMs))
      await clock.sleep(Math.max(0, due.aloneMs - clock.now()), enough)
      await host.watch.until(isAlone, { signal: enough, withinMs: Math.max(0, due.usualMs - clock.now()) })
      const [cluster] = planOf(host).active
      const beganMs = clock.now()
      if (cluster === undefined || host.phase !== 'training') {
        host.checkpointDue = dueFrom(beganMs, aloneEveryMs)
        continue
      }
      const taken = await takeCheckpoint(host, cluster, signal, enough)
      // Waiting for a stage that fell silent kept no line busy; and a newer one is wanted all the more.
      const restMs = taken ? Math.max(aloneEveryMs, (clock.now() - beganMs) / shareOfTime) : againAfterMs
      host.checkpointDue = taken
        ? dueFrom(clock.now(), restMs)
        : { aloneMs: clock.now() + restMs, usualMs: clock.now() + restMs }
    }
  } catch (error) {
    if (!enough.aborted) log('error', 'the host keeps no newer weights', { error: String(error) })
  }
}

/**
 * The model as one cluster has it. While the cluster trains, its stages are an update or so apart, as they are to
 * each other in an asynchronous pipeline; when it stands still, this is exact. False when a stage is gone or silent.
 */
function takeCheckpoint(
  host: HostState,
  cluster: number,
  signal: AbortSignal,
  enough?: AbortSignal,
): Promise<boolean> {
  // One after the other: a stage sends one set of weights at a time.
  const how = { cluster, optimizer: true, ...(enough === undefined ? {} : { enough }) }
  const taken = host.taking.catch(() => undefined).then(() => take(host, how, signal))
  host.taking = taken
  return taken
}

async function take(host: HostState, how: Collection, signal: AbortSignal): Promise<boolean> {
  const trained = trainedOf(host, how.cluster)
  const vectors = await collect(host, how, signal)
  if (vectors === undefined) return false
  // While they were on their way the cluster trained on: what one stage has of it must not be given out again.
  host.checkpoint = { trained: { ...trained, ...dataLeft(host) }, vectors }
  await keepRun(host)
  return true
}

/** Longer than this nobody waits for a program that is to end. */
const suspendWithinMs = 10 * second

/** The program ends, the run does not: keep what it is now, as far as there is time. */
export async function suspendRun(host: HostState): Promise<void> {
  host.suspending = true
  const late = new AbortController()
  const [cluster] = host.plan?.active ?? []
  const trains = cluster !== undefined && host.phase === 'training'
  if (!trains && !host.stock.isOpen) return
  const timeout = host.ports.clock.sleep(suspendWithinMs, late.signal).then(() => {
    late.abort()
  })
  // What cannot be kept in time was kept a moment ago.
  const kept = trains ? takeCheckpoint(host, cluster, late.signal) : keepWhole(host, late.signal)
  await kept.catch(() => false)
  late.abort()
  await timeout.catch(() => undefined)
}
