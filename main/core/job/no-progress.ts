/** What a member that has not reported yet has done: nothing. */
import type { Progress } from '../../../shared/messages/wire.ts'

/** A report without its envelope. */
export type Report = Omit<Progress, 'type' | 'job' | 'plan'>

export const noProgress: Report = {
  updates: 0,
  samples: 0,
  averagedSamples: 0,
  busyMs: 0,
  dropped: 0,
  maxStaleness: 0,
  peakTensorBytes: 0,
  sent: { activations: 0, gradients: 0, parameters: 0, data: 0 },
  rounds: { averaged: 0, abandoned: 0 },
  waitingFor: '',
}
