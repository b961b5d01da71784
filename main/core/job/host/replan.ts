/**
 * A new plan in the middle of a run. Who comes, comes back or is gone makes the host look whether another plan is
 * worth a stop. If so every cluster drains and makes its last round, as at the end of a job, and the training goes on
 * from there.
 */
import type { DoesNotFit, Layout } from '../../../../shared/plan/plan.ts'
import { type Millis, second } from '../../../../shared/units.ts'
import { planOf } from '../plan-in-force.ts'
import type { HostState } from './host-state.ts'
import { isOver } from './over.ts'
import { mustHandOver } from './leaves.ts'
import { drainAll, whoPauses } from './pauses.ts'
import { measure, unmeasured } from './measure.ts'
import { layoutFor, whoIsWilling } from './prepare.ts'

/**
 * An agent that broke down is back within seconds; its stage is still the best one for it. A PC that is gone is so planned
 * around within ten seconds of a kill -9: this wait, the search, the stop, and a first micro-batch.
 */
const comesBackWithinMs = 5 * second
/** Of those who are gone with one cable, the last is noticed so much later than the first. */
const noticedWithinMs = 1.5 * second
const nearlyDoneMs = 10 * second
/** A stop costs seconds, and the plan's figures are estimates: less than a tenth is not worth it. */
export const worthwhile = 1.1

/** A pause that lasts longer makes the others look for a plan of their own. */
const longPauseMs = 20 * second
/** What a new plan costs, in times of what the last one took until it stood. */
const planCosts = 3

/** When the oldest pause that nobody looked at yet becomes a long one. */
function longPauseAtMs(host: HostState): Millis | undefined {
  const waits = Math.max(longPauseMs, planCosts * host.handOutMs)
  const began = [...host.held.values()].filter(({ considered }) => !considered).map(({ sinceMs }) => sinceMs)
  return began.length === 0 ? undefined : Math.min(...began) + waits
}

/** The run is over, or something changed in the pool that its plan does not know of: `unplanned` says what. */
export async function untilAChange(host: HostState, signal: AbortSignal): Promise<void> {
  for (;;) {
    const atMs = longPauseAtMs(host)
    const changed = () => isOver(host) || host.unplanned !== undefined || longPauseAtMs(host) !== atMs
    const withinMs = atMs === undefined ? {} : { withinMs: Math.max(0, atMs - host.ports.clock.now()) }
    const inTime = await host.watch.until(changed, { signal, ...withinMs })
    if (isOver(host) || host.unplanned !== undefined) return
    if (inTime) continue
    host.unplanned = whoPauses(host, host.roll.thatWant('pause'))
    return
  }
}

/**
 * Something changed in the pool. True: every cluster has drained and a new plan is to be made; false: the one in
 * force stays. The plan is made while the others train on: they stop when it is there. @throws AbortedError
 */
export async function replanIsDue(host: HostState, signal: AbortSignal): Promise<boolean> {
  await waitForTheLost(host, signal)
  if (isOver(host)) return false
  for (const held of host.held.values()) held.considered = true
  const reason = host.unplanned ?? ''
  host.unplanned = undefined
  if (isNearlyDone(host)) return false
  // Whoever leaves has little time: what its stage knows is taken over first, and the plan is made after.
  if (!(mustBeTakenOver(host) || (await isWorthwhile(host, signal))) || isOver(host)) return false
  host.log.say(`a new plan: ${reason}`)
  await drain(host, reason, signal)
  return true
}

/** Somebody wants to go whose stage knows what nobody else does. */
const mustBeTakenOver = (host: HostState): boolean =>
  host.roll.thatWant('leave').some((peer) => mustHandOver(host, peer))

const missing = (host: HostState) =>
  planOf(host).layout.clusters.flatMap(({ stages }) =>
    stages
      .map(({ peer }) => peer)
      .filter((peer) => !host.roll.isPresent(peer) && host.roll.get(peer)?.wish !== 'leave'),
  )

/** Nobody trains, and those who are there could: they do not wait for anybody. */
async function canGoOnAtOnce(host: HostState, signal: AbortSignal): Promise<boolean> {
  const trains = () => planOf(host).active.length > 0 || host.held.size > 0
  if (trains() || (await host.watch.until(trains, { signal, withinMs: noticedWithinMs }))) return false
  return !('feasible' in (await layoutFor(host, signal)))
}

/** With everybody who comes meanwhile the question is a new one. */
async function waitForTheLost(host: HostState, signal: AbortSignal): Promise<void> {
  const { clock } = host.ports
  const untilMs = clock.now() + comesBackWithinMs
  for (;;) {
    const names = missing(host).map((peer) => host.roll.nameOf(peer))
    if (names.length === 0 || isOver(host) || (await canGoOnAtOnce(host, signal))) return
    const { active } = planOf(host)
    if (active.length === 0) host.enter('paused', `waiting for ${names.join(' and ')} to come back`)
    const who = whoIsWilling(host)
    const changed = () =>
      isOver(host) || whoIsWilling(host) !== who || planOf(host).active.length !== active.length
    const withinMs = Math.max(0, untilMs - clock.now())
    if (!(await host.watch.until(changed, { signal, withinMs }))) return
  }
}

/** A stop would cost more than it brings. */
function isNearlyDone(host: HostState): boolean {
  const left = host.pace.secondsLeft(host.hosted.spec.target.updates)
  return planOf(host).active.length > 0 && left !== null && left[1] * second < nearlyDoneMs
}

/** Newcomers are measured while the others train; where nobody does, only if there is no plan without. */
async function considered(host: HostState, signal: AbortSignal): Promise<Layout | DoesNotFit> {
  if (planOf(host).active.length === 0) {
    const layout = await layoutFor(host, signal)
    if (!('feasible' in layout) || unmeasured(host).length === 0) return layout
  }
  await measure(host, signal)
  return layoutFor(host, signal)
}

async function isWorthwhile(host: HostState, signal: AbortSignal): Promise<boolean> {
  const of = whoIsWilling(host)
  const layout = await considered(host, signal)
  const { layout: before, active } = planOf(host)
  host.prepared = 'feasible' in layout || of !== whoIsWilling(host) ? undefined : { layout, of }
  if ('feasible' in layout) {
    if (active.length === 0 && host.held.size === 0)
      host.enter('paused', `waiting for members: ${layout.reason}`)
    return false
  }
  const rates = [...active, ...host.late].map((cluster) => before.clusters[cluster]?.samplesPerSecond ?? 0)
  const now = rates.reduce((sum, rate) => sum + rate, 0)
  if (layout.clusters.reduce((sum, { samplesPerSecond }) => sum + samplesPerSecond, 0) >= worthwhile * now)
    return true
  const spare = host.roll.willing.filter(({ state }) => state === 'joined')
  const why = 'stands by: the pool would hardly be faster with it now'
  for (const { peer } of spare) host.log.say(`${host.roll.nameOf(peer)} ${why}`)
  host.roll.mark(
    spare.map(({ peer }) => peer),
    'idle',
    why,
  )
  return false
}

async function drain(host: HostState, reason: string, signal: AbortSignal): Promise<void> {
  host.enter('draining', `${reason}; what is in flight finishes before the new plan`)
  drainAll(host, reason)
  const drained = () =>
    planOf(host).active.every((cluster) => host.roll.clusterIs(planOf(host), cluster, 'finished'))
  await host.watch.until(drained, { signal })
}
