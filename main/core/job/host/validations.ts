/** Validations while the training goes on: one at a time, through the first cluster. */
import type { WireMessage } from '../../../../shared/messages/wire.ts'
import { scoresOf } from '../../../../shared/model/tally.ts'
import { noProgress } from '../no-progress.ts'
import { peersOf, planOf } from '../plan-in-force.ts'
import type { HostState } from './host-state.ts'

export function validateIfDue(host: HostState): void {
  const { validation, data } = host.hosted.spec
  const cluster = planOf(host).active[0]
  const possible = host.phase === 'training' && data.validationSamples > 0
  if (!possible || cluster === undefined || isValidating(host, cluster)) return
  const root = peersOf(planOf(host), cluster)[0] ?? ''
  const { updates } = host.roll.get(root)?.progress ?? noProgress
  const { everyUpdates = Infinity } = validation
  const id = Math.floor(updates / everyUpdates)
  if (id <= lastValidation(host)) return
  host.validation = { id, cluster }
  void host.send(root, {
    type: 'validate',
    id,
    samples: Math.min(validation.samples, data.validationSamples),
  })
}

const lastValidation = (host: HostState) => host.validation?.id ?? 0

/** One at a time: a slow cluster is not buried in validations. A lost cluster's never answers. */
function isValidating({ validation }: HostState, cluster: number): boolean {
  return validation !== undefined && validation.tally === undefined && validation.cluster === cluster
}

/** Take a validation's outcome, if it is the one we wait for. */
export function noteValidated(host: HostState, { header }: WireMessage<'validated'>): void {
  if (host.validation?.id !== header.id) return
  host.validation = { ...host.validation, tally: header.tally }
  const { validation, data } = host.hosted.spec
  if (host.phase === 'training') host.judged += Math.min(validation.samples, data.validationSamples)
  const scores = scoresOf(header.tally)
  if (scores !== undefined) {
    host.validationCurve.add({ updates: header.updates, scores })
    host.log.say(
      `after ${grouped.format(header.updates)} updates: validation loss ${scores.loss.toFixed(3)}, accuracy ${percent(scores.accuracy)}`,
    )
  }
  host.watch.notify()
}

const grouped = new Intl.NumberFormat('en')
const percent = (share: number) => `${(share * 100).toFixed(1)}%`
