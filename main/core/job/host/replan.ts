/**
 * A new plan in the middle of a run. Who comes, comes back or is gone makes the host look whether another plan is
 * worth a stop. If so every cluster drains and makes its last round, as at the end of a job; the weights and the
 * optimizer's memory come to the host, and the training goes on from there.
 */
import { second } from '../../../../shared/units.ts'
import { Pace } from '../forecast.ts'
import { withoutActive, peersOf, planOf } from '../plan-in-force.ts'
import { takeCheckpoint } from './checkpoints.ts'
import type { HostState } from './host-state.ts'
import { isOver } from './over.ts'
import { layoutFor, measure } from './prepare.ts'
import { samplesTrained } from './run-report.ts'

/** An agent that broke down is back within seconds; its stage is still the best one for it. */
const comesBackWithinMs = 10 * second
const nearlyDoneMs = 10 * second
/** A stop costs seconds, and the plan's figures are estimates: less than a tenth is not worth it. */
const worthwhile = 1.1

/**
 * Something changed in the pool. True: every cluster has drained and a new plan is to be made; false: the one in
 * force stays. @throws AbortedError
 */
export async function replanIsDue(host: HostState, signal: AbortSignal): Promise<boolean> {
  await waitForTheLost(host, signal)
  // A pause holds a cluster's stages as they are; a plan without them would end it.
  await host.watch.until(() => isOver(host) || host.pausedBy.size === 0, { signal })
  if (isOver(host)) return false
  const reason = host.unplanned ?? ''
  host.unplanned = undefined
  if (isNearlyDone(host)) return false
  if (!(await isWorthwhile(host, signal)) || isOver(host)) return false
  host.log.say(`a new plan: ${reason}`)
  await drain(host, reason, signal)
  return true
}

const missing = (host: HostState) =>
  planOf(host).layout.clusters.flatMap(({ stages }) =>
    stages.map(({ peer }) => peer).filter((peer) => !host.roll.isPresent(peer)),
  )

async function waitForTheLost(host: HostState, signal: AbortSignal): Promise<void> {
  const names = missing(host).map((peer) => host.roll.nameOf(peer))
  if (names.length === 0) return
  if (planOf(host).active.length === 0)
    host.enter('paused', `waiting for ${names.join(' and ')} to come back`)
  const back = () => isOver(host) || missing(host).length === 0
  await host.watch.until(back, { signal, withinMs: comesBackWithinMs })
}

/** A stop would cost more than it brings. */
function isNearlyDone(host: HostState): boolean {
  const left = host.pace.secondsLeft(host.hosted.spec.target.updates)
  return planOf(host).active.length > 0 && left !== null && left[1] * second < nearlyDoneMs
}

async function isWorthwhile(host: HostState, signal: AbortSignal): Promise<boolean> {
  await measure(host, signal)
  const layout = await layoutFor(host, signal)
  const { layout: before, active } = planOf(host)
  if ('feasible' in layout) {
    if (active.length === 0) host.enter('paused', `waiting for members: ${layout.reason}`)
    return false
  }
  const rates = active.map((cluster) => before.clusters[cluster]?.samplesPerSecond ?? 0)
  const now = rates.reduce((sum, rate) => sum + rate, 0)
  if (layout.clusters.reduce((sum, { samplesPerSecond }) => sum + samplesPerSecond, 0) >= worthwhile * now)
    return true
  const spare = host.roll.present.filter(({ state }) => state === 'joined')
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
  const roots = () => planOf(host).active.map((cluster) => peersOf(planOf(host), cluster)[0] ?? '')
  host.broadcast({ type: 'finish' }, roots())
  const drained = () =>
    planOf(host).active.every((cluster) => host.roll.clusterIs(planOf(host), cluster, 'finished'))
  await host.watch.until(drained, { signal })
}

/** From here the training goes on: the weights of those that drained, or else the newest that were kept. */
export async function takeStock(host: HostState, signal: AbortSignal): Promise<void> {
  const made = samplesTrained(host)
  let taken = false
  for (const cluster of planOf(host).active) taken ||= await takeCheckpoint(host, cluster, signal)
  host.from = host.checkpoint?.trained ?? { updates: 0, samples: 0 }
  if (!taken) {
    const { updates, samples } = host.from
    host.log.say(
      `the training goes back to update ${updates}, the newest that was kept; ${made - samples} samples are lost`,
      'warn',
    )
    host.cutCurves(updates)
    host.validation = undefined
  }
  // A validation that is under way never answers.
  if (host.validation !== undefined) host.validation = { ...host.validation, cluster: -1 }
  host.roll.closeBooks()
  host.pace = new Pace()
  host.plan = withoutActive(planOf(host))
}
