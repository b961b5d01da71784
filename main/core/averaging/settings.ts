/** What averaging is told, what it may call, and what it says. */
import type { JobId } from '../../../shared/ids.ts'
import type { ModelGraph } from '../../../shared/model/graph.ts'
import type { RingPlan } from '../../../shared/plan/plan.ts'
import type { Bytes, Millis } from '../../../shared/units.ts'
import type { Clock, Links, Log, StageEngine } from '../ports.ts'

export interface AveragingPorts {
  readonly engine: StageEngine
  readonly links: Links
  readonly clock: Clock
  readonly log: Log
}

/** A ring of the plan that this peer is a member of. */
export interface MemberRing {
  /** In the plan's list of rings; names it on the wire. */
  readonly index: number
  readonly plan: RingPlan
}

/** The part of averaging that every new plan decides anew. */
export interface RingsOfPlan {
  readonly planNumber: number
  readonly rings: readonly MemberRing[]
}

export interface AveragingSettings extends RingsOfPlan {
  readonly job: JobId
  readonly graph: ModelGraph
  /** H: updates between two rounds. */
  readonly averageEvery: number
  /** A round begins so long after the first member called for it, however few updates the others made. */
  readonly deadlineMs?: Millis
  /** Of what travels at once; the same on all members. Default: see `usualPieceElements`. */
  readonly pieceElements?: number
}

/** `averaged`: this member's numbers took part and the mean is in. `abandoned`: they are as they were. */
export type RoundOutcome = 'averaged' | 'abandoned'

export interface RoundReport {
  /** Index of the ring in the plan. */
  readonly ring: number
  readonly outcome: RoundOutcome
  /** Why it was abandoned; empty otherwise. */
  readonly reason: string
}

export interface AveragingHooks {
  /** How far the stage is; see `StageProgress` of the pipeline. */
  readonly progress: () => {
    readonly updates: number
    readonly samples: number
    readonly stateVersion: number
  }
  readonly onRound?: (report: RoundReport) => void
  /** The engine failed within a round: no fault of the ring. */
  readonly onFault?: (error: unknown) => void
}

/** Sums over all rounds and rings of this peer. */
export interface RoundCounts {
  averaged: number
  abandoned: number
  /** Bytes of chunks that it sent. */
  chunkBytes: Bytes
}

/** What one ring is made of. */
export interface RingParts {
  readonly ports: AveragingPorts
  readonly hooks: AveragingHooks
  readonly settings: AveragingSettings
  readonly ring: MemberRing
  /** Of all rings; this one adds to them. */
  readonly counts: RoundCounts
  /** Samples the stage had trained at its copy for the last averaged round of the plan before; 0 at the start. */
  readonly samplesAtRound: number
  /** Samples the stage had trained that others certainly know of. */
  readonly averagedSamples: number
  /** False while a round of an earlier plan is not over. */
  readonly mayBegin: () => boolean
}
