/** What was trained, sample by sample: in the model, or in vain; and where the data goes on. */
import type { PeerId } from '../../../../shared/ids.ts'
import { mostCuts } from '../../../../shared/messages/wire.ts'
import { type Cursor, rowsGivenAgain, withCut } from '../../pipeline/order.ts'
import type { Trained } from '../checkpoint.ts'
import { noProgress } from '../no-progress.ts'
import { peersOf, planOf } from '../plan-in-force.ts'
import type { HostState } from './host-state.ts'
import { updatesMade } from './run-report.ts'

const rootsOf = ({ plan, roll }: HostState) =>
  (plan?.layout.clusters ?? []).map((_, cluster) =>
    plan === undefined ? undefined : roll.get(peersOf(plan, cluster)[0] ?? '')?.progress,
  )

/** Everything that was ever trained, as far as the roots told. */
export function everTrained(host: HostState): number {
  const { samples, lost } = host.from
  return rootsOf(host).reduce((sum, progress) => sum + (progress?.samples ?? 0), samples + lost)
}

/**
 * How far the model of one cluster is: what it trained itself, and what the others brought into averages. Where all have
 * just made their last round that is everything, but for what is lost with those who are gone.
 */
export function trainedOf(host: HostState, cluster: number): Trained {
  const roots = rootsOf(host)
  const known = (index: number, progress = roots[index]) =>
    (index === cluster ? progress?.samples : progress?.averagedSamples) ?? 0
  const samples = roots.reduce((sum, _, index) => sum + known(index), host.from.samples)
  return {
    updates: updatesMade(host),
    samples,
    lost: Math.max(0, everTrained(host) - samples),
    ...dataLeft(host),
  }
}

/** How the data goes on: after the shares of the present plan end where the clusters stand. */
export function dataLeft(host: HostState): Pick<Trained, 'cuts' | 'doubled'> {
  const { from, hosted } = host
  const all = withCut(from.cuts, cursorsOf(host))
  const cuts = all.slice(-mostCuts)
  // Whatever was trained only by a cut that is forgotten comes once more.
  const doubled = from.doubled + rowsGivenAgain(hosted.spec.data.trainSamples, all, cuts)
  return { doubled, cuts: cuts.map((cut) => cut.map(([epoch, rows]): [number, number] => [epoch, rows])) }
}

/** Of each cluster, by whichever of its stages saw most: what one of them has trained is not given out again. */
function cursorsOf(host: HostState): readonly Cursor[] {
  const first = Math.min(...(host.from.cuts.at(-1) ?? [[0, 0]]).map(([epoch]) => epoch))
  const { plan, roll } = host
  if (plan === undefined) return [[first, 0]]
  return plan.layout.clusters.map((_, cluster) =>
    peersOf(plan, cluster)
      .map((peer): Cursor => roll.get(peer)?.progress?.cursor ?? [first, 0])
      .reduce(further),
  )
}

const isFurther = (one: Cursor, other: Cursor) =>
  one[0] > other[0] || (one[0] === other[0] && one[1] > other[1])
const further = (one: Cursor, other: Cursor): Cursor => (isFurther(other, one) ? other : one)

/** A stage stands there in the data, by a message that may be newer than its last report. */
export function noteCursor(
  { roll, hosted, from }: HostState,
  peer: PeerId,
  cursor: Cursor | undefined,
): void {
  const entry = roll.get(peer)
  if (entry === undefined || cursor === undefined) return
  const none = { type: 'progress', job: hosted.job, plan: 0, ...noProgress, updates: from.updates } as const
  const progress = entry.progress ?? none
  const [epoch, rows] = further(progress.cursor ?? cursor, cursor)
  entry.progress = { ...progress, cursor: [epoch, rows] }
}

/** The active clusters, those first whose optimizer is as far as the model. */
export function handingOver(host: HostState): number[] {
  const { active } = planOf(host)
  const isBehind = (cluster: number) => Number(host.woken.has(cluster))
  return active.toSorted((one, other) => isBehind(one) - isBehind(other))
}
