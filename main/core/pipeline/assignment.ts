/** What one stage is told, what it may call, and what follows from its place in the cluster. */
import { InvariantError } from '../../../shared/errors.ts'
import type { Codec } from '../../../shared/codec/codec.ts'
import type { JobId, PeerId } from '../../../shared/ids.ts'
import type { LayerRange, ModelGraph, Tally } from '../../../shared/model/graph.ts'
import { type Shape, layoutOfGraph } from '../../../shared/model/layout.ts'
import type { StagePosition } from '../../../shared/plan/plan.ts'
import type { Millis } from '../../../shared/units.ts'
import type { BatchSource, Clock, Links, Log, StageEngine } from '../ports.ts'
import type { BatchOrder } from './order.ts'

export interface StagePorts {
  /** Loaded with this stage's layers and weights. */
  readonly engine: StageEngine
  readonly links: Links
  readonly clock: Clock
  readonly log: Log
  /** The root reads inputs, the leaf labels; nobody else asks. */
  readonly batches: BatchSource
}

/** One stage's part of a plan. It holds for the stage's whole life: a replan does not change a cluster's stages. */
export interface StageAssignment {
  readonly job: JobId
  /** Of the plan that made this cluster; its pipeline messages carry it even after a replan. */
  readonly planNumber: number
  readonly position: StagePosition
  /** The peers of the cluster, root first. */
  readonly stages: readonly PeerId[]
  readonly layers: LayerRange
  readonly graph: ModelGraph
  /** b: samples in a micro-batch. */
  readonly microBatch: number
  /** A: micro-batches gathered into an update. */
  readonly accumulate: number
  /** K: credits, micro-batches in flight in the cluster. */
  readonly inFlight: number
  readonly staleness: 'none' | 'predict'
  /** Of the borders to the previous and the next stage, in both directions; absent: fp32. */
  readonly codecs?: { readonly up: Codec; readonly down: Codec }
  readonly order: BatchOrder
  readonly trainSamples: number
  readonly validationSamples: number
  /** The root ends the stream after this many updates' worth of micro-batches. */
  readonly targetUpdates: number
}

/** How far a stage is; what averaging weighs by and how it knows that a stage stands still. */
export interface StageProgress {
  /** Updates made; one whose gradient was dropped counts as made. */
  readonly updates: number
  /** Samples whose gradients are in the weights. */
  readonly samples: number
  /** Grows with everything that may change the stage's numbers. */
  readonly stateVersion: number
}

/** One thing the engine was made to do, in the order it did them: enough to repeat the run exactly. */
export type StageEvent =
  /** `version`: updates made before; `predict`: τ. */
  | {
      readonly type: 'forward'
      readonly microBatch: number
      readonly version: number
      readonly predict: number
    }
  | { readonly type: 'backward'; readonly microBatch: number; readonly version: number }
  | { readonly type: 'update'; readonly version: number; readonly applied: boolean }

export interface StageHooks {
  /** After every update. */
  readonly onUpdate?: (progress: StageProgress) => void
  /** Asked before every update: undefined to go on, or what to wait for; then it is asked again. */
  readonly mayUpdate?: () => Promise<void> | undefined
  /** At the leaf, after every training micro-batch. */
  readonly onTally?: (tally: Tally) => void
  readonly onEvent?: (event: StageEvent) => void
}

export interface StageStats extends StageProgress {
  /** Milliseconds in engine calls of the pipeline. */
  readonly busyMs: Millis
  /** Updates that changed nothing, for their gradient held a NaN or infinity. */
  readonly dropped: number
  readonly maxStaleness: number
  /** How many micro-batches had staleness 0, 1, 2, … */
  readonly stalenessCounts: readonly number[]
  /** Micro-batches whose gradients came back. */
  readonly backwarded: number
  /** Credits in use, at the root; 0 elsewhere. */
  readonly inFlight: number
  /** For a person; empty while it works or has finished. */
  readonly waitingFor: string
}

export interface StageSummary {
  readonly updates: number
  readonly samples: number
}

/** A stage's neighbours and the shapes at its borders. */
export interface StagePlace {
  readonly isRoot: boolean
  readonly isLeaf: boolean
  readonly root: PeerId
  readonly leaf: PeerId
  /** Absent at the root and at the leaf. */
  readonly previous: PeerId | undefined
  readonly next: PeerId | undefined
  /** Of one sample. */
  readonly inputShape: Shape
  readonly outputShape: Shape
  /** How they travel, and their gradients back. */
  readonly inputCodec: Codec
  readonly outputCodec: Codec
}

export function placeOf({ stages, position, graph, layers, codecs }: StageAssignment): StagePlace {
  const root = stages[0]
  const leaf = stages.at(-1)
  const layouts = layoutOfGraph(graph)
  const first = layouts[layers[0]]
  const last = layouts[layers[1] - 1]
  if (root === undefined || leaf === undefined || first === undefined || last === undefined)
    throw new InvariantError('an assignment without stages or layers')
  return {
    root,
    leaf,
    isRoot: position.stage === 0,
    isLeaf: position.stage === stages.length - 1,
    previous: stages[position.stage - 1],
    next: stages[position.stage + 1],
    inputShape: first.inputShape,
    outputShape: last.outputShape,
    inputCodec: codecs?.up ?? 'fp32',
    outputCodec: codecs?.down ?? 'fp32',
  }
}
