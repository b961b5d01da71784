/** A plan: which peers form which cluster, who holds which layers, who averages what with whom. */
import { z } from 'zod'
import { codec } from '../codec/codec.ts'
import { peerId, planNumber } from '../ids.ts'
import { layerRange } from '../model/graph.ts'

const amount = z.number().min(0)

export const stagePlan = z.strictObject({
  peer: peerId,
  /** Top-level layers [from, toExclusive). */
  layers: layerRange,
  memoryBytes: amount,
  secondsPerMicroBatch: amount,
  /** How its activations travel to the next stage and their gradients back. Absent at the leaf; elsewhere: fp32. */
  codec: codec.optional(),
  /** Its backward pass runs the forward pass again, for its memory does not hold all that it needs; absent: the engine decides. */
  recompute: z.boolean().optional(),
})
export type StagePlan = z.infer<typeof stagePlan>

export const clusterPlan = z.strictObject({
  stages: z.array(stagePlan).min(1).max(1024),
  samplesPerSecond: amount,
})
export type ClusterPlan = z.infer<typeof clusterPlan>

/** Peers that hold the same layers, one a cluster, in cluster order. */
export const ringPlan = z.strictObject({
  layers: z.array(layerRange).min(1).max(4096),
  members: z.array(peerId).min(1).max(1024),
})
export type RingPlan = z.infer<typeof ringPlan>

const unusedPeer = z.strictObject({ peer: peerId, reason: z.string().max(300) })

/** The planner's answer when the model fits. */
export const layout = z.strictObject({
  clusters: z.array(clusterPlan).min(1).max(1024),
  rings: z.array(ringPlan).max(4096),
  unused: z.array(unusedPeer).max(10_000),
  samplesPerSecond: amount,
  averagingSeconds: amount,
})
export type Layout = z.infer<typeof layout>

/** What of an earlier answer matters to the next plan; the rest of its file may be anything. */
const asPrinted = { error: 'give a plan as rookery plan --json printed it' }
export const previousPlan = z.object(
  {
    clusters: z
      .array(
        z.object(
          {
            stages: z
              .array(
                z.object(
                  {
                    peer: z.string(asPrinted).min(1, asPrinted).max(128, asPrinted),
                    layers: z.tuple([z.int(asPrinted).min(0, asPrinted), z.int(asPrinted)], asPrinted),
                  },
                  asPrinted,
                ),
                asPrinted,
              )
              .min(1, asPrinted)
              .max(1024, asPrinted),
          },
          asPrinted,
        ),
        asPrinted,
      )
      .min(1, asPrinted)
      .max(1024, asPrinted),
  },
  asPrinted,
)
export type PreviousPlan = z.infer<typeof previousPlan>

/** The planner's answer when it does not. */
export interface DoesNotFit {
  readonly feasible: false
  /** The least by which the pool's memory would have to grow for one cluster to hold the model. */
  readonly shortfallBytes: number
  readonly reason: string
}

/** A layout in force, with every number of the schedule decided. */
export const plan = z.strictObject({
  number: planNumber,
  layout,
  /** A: micro-batches an update, the same in every cluster. */
  accumulate: z.int().min(1).max(4096),
  /** K of each cluster. */
  inFlight: z.array(z.int().min(1).max(1024)).min(1).max(1024),
  /** Clusters that train; a cluster that lost a peer or is paused is not in it and in no ring. */
  active: z.array(z.int().min(0)).max(1024),
})
export type Plan = z.infer<typeof plan>

/** Where one peer stands in a plan. */
export interface StagePosition {
  readonly cluster: number
  readonly stage: number
}
