/** What an optimizer is: how all trained numbers of a stage move in one go. */
import type { StateLayout } from '../../../../../shared/model/layout.ts'
import type { RunKernel } from '../plan.ts'

/** When a step is taken. */
export interface StepTime {
  /** The optimizer's rate times the schedule's factor. */
  readonly learningRate: number
  /** Number of the update from 1: the exponent of the bias corrections. */
  readonly update: number
  /** What the gathered gradient is multiplied with: the mean over micro-batches, then the clipping. */
  readonly scale: number
}

/** Addresses of a stage's trained numbers. `to` may be `from`. */
export interface Moved {
  readonly from: number
  readonly to: number
  readonly gradient: number
  readonly moments: readonly number[]
}

/** What rules work with. */
export interface RuleSetting {
  readonly run: RunKernel
  readonly layout: StateLayout
}

export interface OptimizerRule {
  /** How many vectors it remembers, all zero before the first update. */
  readonly moments: number
  step(moved: Moved, time: StepTime): void
  /**
   * Weights `reach` = τ·rate ahead along the way that the moments alone say, without weight decay.
   * Never called without moments. @param update - updates made so far, at least 1
   */
  ahead(moved: Omit<Moved, 'gradient'>, reach: number, update: number): void
}
