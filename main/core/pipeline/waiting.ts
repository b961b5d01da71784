/** Why a stage stands still, in words for a person. */
import type { StagePlace } from './assignment.ts'

interface Standstill {
  readonly place: StagePlace
  /** An update waits for a round of averaging. */
  readonly gated: boolean
  /** Micro-batches that went on from here and have not come back. */
  readonly outstanding: number
  /** K. */
  readonly inFlight: number
  /** Root: the leaf has evaluation micro-batches to judge. */
  readonly judging: boolean
  readonly downFull: boolean
  readonly upFull: boolean
  readonly holding: boolean
  readonly started: boolean
}

/** Call only for a stage that does nothing at the moment. */
export function describeWaiting(still: Standstill): string {
  const { place, outstanding } = still
  if (still.gated) return 'waiting for the averaging round'
  if (still.downFull) return `waiting for ${place.next ?? ''} to take activations`
  if (still.upFull) return `waiting for ${place.previous ?? ''} to take gradients`
  const onlyGradients = place.isRoot || outstanding >= still.inFlight
  if (onlyGradients && outstanding > 0) return `waiting for gradients from ${place.next ?? ''}`
  return describeIdle(still)
}

/** Nothing of its own is out. */
function describeIdle({ place, judging, holding, started }: Standstill): string {
  if (place.previous !== undefined) return `waiting for activations from ${place.previous}`
  if (judging) return `waiting for ${place.leaf} to judge`
  if (holding) return 'waiting for the host to go on'
  return started ? '' : 'waiting for the start'
}
