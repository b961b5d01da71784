/** What members hold, said by themselves: after they missed their host, it missed them, or its program was started anew. */
import type { PeerId } from '../../../../shared/ids.ts'
import type { WireMessage } from '../../../../shared/messages/wire.ts'
import { clusterName } from '../../../../shared/plan/words.ts'
import { peersOf, planOf, positionOf } from '../plan-in-force.ts'
import { bringIn } from './begin.ts'
import { noteCursor } from './books.ts'
import { noteBroken } from './drop.ts'
import { activate } from './drop.ts'
import { refuse, refusalOf, sendRoster } from './gather.ts'
import type { HostState } from './host-state.ts'
import { notePause, noteResume } from './pauses.ts'
import type { Enrolled } from './roll.ts'

type Report = WireMessage<'stage-report'>['header']

/** A member tells what it holds. One that is known is in again by it; of a stranger it means nothing. */
export function noteStageReport(
  host: HostState,
  from: PeerId,
  { header }: WireMessage<'stage-report'>,
): void {
  const entry = host.roll.get(from)
  const refusal = host.roll.isPresent(from) ? undefined : refusalOf(host, from, '')
  if (refusal !== undefined || entry === undefined) {
    refuse(host, from, refusal ?? 'not-a-member')
    return
  }
  take(host, entry, header)
  host.watch.notify()
}

function take(host: HostState, entry: Enrolled, said: Report): void {
  const { peer } = entry
  const wasLost = entry.state === 'lost'
  const holds = holdsStage(host, peer, said)
  entry.layout = holds ? said.layout : undefined
  if (said.layout === host.layoutNumber) noteCursor(host, peer, said.cursor)
  if (said.stage === 'broken' && said.layout === host.layoutNumber) noteBroken(host, peer)
  if (wasLost) comeIn(host, entry, holds)
  if (holds) takeUp(host, entry, said)
  if (said.pausing) notePause(host, peer)
  else if (wasLost) noteResume(host, peer)
}

/** Its stage is one of the plan in force and stands where the others know it to stand. */
function holdsStage(host: HostState, peer: PeerId, { layout, stage }: Report): boolean {
  const { plan, layoutNumber } = host
  const isOfPlan = plan !== undefined && layout === layoutNumber && positionOf(plan, peer) !== undefined
  return isOfPlan && (stage === 'whole' || stage === 'finished')
}

/** It is back: with its stage, or to be used by the next plan. */
function comeIn(host: HostState, entry: Enrolled, holds: boolean): void {
  const { peer, device, addresses } = entry
  const back = `${host.roll.nameOf(peer)} is back`
  if (holds) Object.assign(entry, { state: 'idle', reason: 'its cluster is not whole' })
  else {
    host.roll.enroll(peer, device, addresses)
    void host.send(peer, { type: 'stand-by', reason: 'back; the host looks whether its plan needs this PC' })
  }
  host.log.say(back)
  if (host.phase !== 'gathering') host.unplanned = back
  sendRoster(host)
}

/** It stands by its stage: with the last of a cluster that says so, the cluster goes on. */
function takeUp(host: HostState, { peer }: Enrolled, { plan: theirs, stage }: Report): void {
  const plan = planOf(host)
  const cluster = positionOf(plan, peer)?.cluster ?? 0
  if (stage === 'finished') host.roll.mark([peer], 'finished')
  // Between two plans the next one decides.
  const comesBack = !host.standsStill && !plan.active.includes(cluster) && isWholeAgain(host, cluster)
  // A deputy has counted on while we were not there: the next number is one that nobody had.
  if (theirs > plan.number) host.plan = { ...plan, number: theirs }
  if (comesBack) goOn(host, cluster)
  else if (plan.active.includes(cluster)) answer(host, peer, theirs > plan.number)
}

/** Its cluster trains anyway. */
function answer(host: HostState, peer: PeerId, isBehind: boolean): void {
  const plan = planOf(host)
  if (isBehind) activate(host, plan.active, 'the host is back')
  else void host.send(peer, { type: 'replan', proposal: plan, reason: 'as before' })
}

function goOn(host: HostState, cluster: number): void {
  const back = `${clusterName(cluster)} is back`
  bringIn(host, cluster, back)
  host.trainingSinceMs ??= host.ports.clock.now()
  host.log.say(`${back} and trains on`)
}

/** Every one of its members holds its stage, and nobody asked for a pause. */
function isWholeAgain(host: HostState, cluster: number): boolean {
  const members = peersOf(planOf(host), cluster)
  return (
    !host.held.has(cluster) &&
    !host.late.has(cluster) &&
    members.every((peer) => host.roll.holds(peer, host.layoutNumber))
  )
}
