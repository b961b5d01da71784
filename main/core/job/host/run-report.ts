/** What a run came to: totals over members for faces, and report.json. */
import type { JobResult } from '../../../../shared/messages/control.ts'
import { peersOf } from '../plan-in-force.ts'
import type { HostState } from './host-state.ts'
import { allOf } from './roll.ts'

/** Samples in the model: those of earlier plans, and what the roots of the present clusters report. */
export function samplesTrained(host: HostState): number {
  const { plan, roll, from } = host
  if (plan === undefined) return from.samples
  const roots = plan.layout.clusters.map((_, cluster) => peersOf(plan, cluster)[0] ?? '')
  return roots.reduce((sum, root) => sum + (roll.get(root)?.progress?.samples ?? 0), from.samples)
}

/** Updates of the clusters that train: the least, so that progress never runs ahead of the truth. */
export function updatesMade(host: HostState): number {
  const { plan, roll, from, woken } = host
  if (plan === undefined) return from.updates
  const training = plan.active.filter((cluster) => !woken.has(cluster))
  const [counted = []] = [training, plan.active, [...plan.layout.clusters.keys()]].filter(
    ({ length }) => length > 0,
  )
  const made = counted.map(
    (cluster) => roll.get(peersOf(plan, cluster)[0] ?? '')?.progress?.updates ?? from.updates,
  )
  return Math.min(...made)
}

/** Totals of a run that ended. */
export function resultOf(
  host: HostState,
  ending: Pick<JobResult, 'outcome' | 'reason' | 'code' | 'model'>,
): JobResult {
  const sum = (of: (sent: JobResult['bytesSent']) => number) =>
    host.roll.all.reduce((total, entry) => total + of(allOf(entry).sent), 0)
  return {
    ...ending,
    validation: host.finalScores ?? null,
    updates: updatesMade(host),
    samples: host.concluded?.samples ?? samplesTrained(host),
    lostSamples: host.concluded?.lost ?? host.from.lost,
    doubledSamples: host.concluded?.doubled ?? host.from.doubled,
    seconds: host.secondsTrained,
    bytesSent: {
      activations: sum((sent) => sent.activations),
      gradients: sum((sent) => sent.gradients),
      parameters: sum((sent) => sent.parameters),
      data: sum((sent) => sent.data),
    },
    maxStaleness: Math.max(0, ...host.roll.all.map((entry) => allOf(entry).maxStaleness)),
  }
}

/** report.json: the curve, the plan, the bytes, and who contributed how much. */
export function reportOfRun(host: HostState): Record<string, unknown> {
  const { spec } = host.hosted
  const { model: _folder, ...totals } = resultOf(host, {
    outcome: 'finished',
    code: 'finished',
    reason: '',
    model: null,
  })
  return {
    format: 'rookery-report/1',
    name: spec.name,
    model: spec.graph.name,
    seed: spec.seed,
    recipe: spec.recipe,
    ...totals,
    plan: host.plan ?? null,
    trainingCurve: host.trainingCurve.points,
    validationCurve: host.validationCurve.points,
    contributions: host.roll.all.map((entry) => {
      const { peer, device, state, reason } = entry
      const { samples, updates, busyMs, peakTensorBytes, dropped, sent, rounds } = allOf(entry)
      return {
        ...{ peer, displayName: device.displayName, state, reason, samples, updates },
        busySeconds: busyMs / 1000,
        peakTensorBytes,
        droppedGradients: dropped,
        sent,
        rounds,
      }
    }),
    log: host.log.lines,
  }
}
