/** What was trained, sample by sample: in the model, or in vain; and where the data goes on. */
import { mostCuts } from '../../../../shared/messages/wire.ts'
import { type Cursor, withCut } from '../../pipeline/order.ts'
import type { Trained } from '../checkpoint.ts'
import { peersOf } from '../plan-in-force.ts'
import type { HostState } from './host-state.ts'

const rootsOf = ({ plan, roll }: HostState) =>
  (plan?.layout.clusters ?? []).map((_, cluster) =>
    plan === undefined ? undefined : roll.get(peersOf(plan, cluster)[0] ?? '')?.progress,
  )

/** Everything that was ever trained, as far as the roots told. */
export function everTrained(host: HostState): number {
  const { samples, lost } = host.from
  return rootsOf(host).reduce((sum, progress) => sum + (progress?.samples ?? 0), samples + lost)
}

/** How far the model of one cluster is: its own samples and what averages brought in; the rest was in vain. */
export function trainedOf(host: HostState, cluster: number): Trained {
  const progress = rootsOf(host)[cluster]
  const samples = host.from.samples + (progress?.pooledSamples ?? 0)
  return {
    updates: progress?.updates ?? host.from.updates,
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
