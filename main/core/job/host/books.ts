/** What was trained, sample by sample: in the model, or in vain; and where the data goes on. */
import { mostCuts } from '../../../../shared/messages/wire.ts'
import { type Cursor, withCut } from '../../pipeline/order.ts'
import type { Trained } from '../checkpoint.ts'
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
    cuts: cutsOf(host),
  }
}

/** The shares of the data under the present plan end where the clusters stand. */
function cutsOf(host: HostState): Trained['cuts'] {
  const { cuts } = host.from
  const first = Math.min(...(cuts.at(-1) ?? [[0, 0]]).map(([epoch]) => epoch))
  const cursors = rootsOf(host).map((progress): Cursor => progress?.cursor ?? [first, 0])
  return withCut(cuts, cursors, mostCuts).map((cut) =>
    cut.map(([epoch, rows]): [number, number] => [epoch, rows]),
  )
}

/** The active clusters, those first whose optimizer is as far as the model. */
export function handingOver(host: HostState): number[] {
  const { active } = planOf(host)
  const isBehind = (cluster: number) => Number(host.woken.has(cluster))
  return active.toSorted((one, other) => isBehind(one) - isBehind(other))
}
