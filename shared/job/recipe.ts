/**
 * How a job trains: one value an axis. The axes are orthogonal; each will take more values (gossip, quorums), and a
 * recipe that names a value this version does not know is refused by its schema.
 */
import { z } from 'zod'
import { codecChoice } from '../codec/codec.ts'

const rate = z.number().positive().max(10)
const decay = z.number().min(0).max(1)
const beta = z.number().min(0).lt(1)

/** How a gradient becomes an update. Weight decay is decoupled for adamw and lamb, added to the gradient elsewhere. */
export const optimizer = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('sgd'),
    learningRate: rate,
    momentum: beta.default(0),
    nesterov: z.boolean().default(false),
    weightDecay: decay.default(0),
  }),
  ...(['adam', 'adamw', 'lamb'] as const).map((type) =>
    z.strictObject({
      type: z.literal(type),
      learningRate: rate,
      beta1: beta.default(0.9),
      beta2: beta.default(0.999),
      epsilon: z.number().positive().max(1).default(1e-8),
      weightDecay: decay.default(type === 'adam' ? 0 : 0.01),
    }),
  ),
])
export type Optimizer = z.infer<typeof optimizer>

const updates = z.int().min(1).max(1_000_000_000)

/** The learning rate over updates, as a factor of the optimizer's. Warm-up rises linearly from 1/(n+1). */
export const learningRateSchedule = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('constant'), warmupUpdates: z.int().min(0).default(0) }),
  z.strictObject({
    type: z.literal('step'),
    warmupUpdates: z.int().min(0).default(0),
    everyUpdates: updates,
    factor: z.number().positive().max(1).default(0.1),
  }),
  z.strictObject({
    type: z.literal('cosine'),
    warmupUpdates: z.int().min(0).default(0),
    totalUpdates: updates,
    finalFactor: z.number().min(0).max(1).default(0),
  }),
])
export type LearningRateSchedule = z.infer<typeof learningRateSchedule>

export const recipe = z.strictObject({
  /** Who holds what: contiguous stages of layers, one whole model a cluster. */
  placement: z.literal('stages').default('stages'),
  schedule: z
    .strictObject({
      /** Samples in a micro-batch. */
      microBatch: z.int().min(1).max(65_536).default(16),
      /** Micro-batches gathered into an update; absent: twice the stages of the longest cluster. */
      accumulate: z.int().min(1).max(4096).optional(),
      /** Credits: micro-batches in flight in a cluster; absent: its stages plus one. 1 is synchronous. */
      inFlight: z.int().min(1).max(1024).optional(),
    })
    .prefault({}),
  sync: z
    .strictObject({
      type: z.literal('multi-ring-mean').default('multi-ring-mean'),
      /** H: updates between two averaging rounds. */
      averageEveryUpdates: z.int().min(1).max(1_000_000).default(10),
    })
    .prefault({}),
  /** What repairs staleness beyond accumulation: nothing, or a forward with weights predicted τ updates ahead. */
  staleness: z.enum(['none', 'predict']).default('predict'),
  /**
   * How activations and gradients travel. `auto`: the plan chooses for each border between two stages, float32 where
   * its line is fast enough. Every other value holds for all borders; `fp32` is exact.
   */
  codec: codecChoice.default('auto'),
  optimizer: optimizer.prefault({ type: 'adamw', learningRate: 0.003 }),
  learningRate: learningRateSchedule.prefault({ type: 'constant' }),
  /** Largest gradient norm of a stage; larger ones are scaled down. Absent: no clipping. */
  clipNorm: z.number().positive().optional(),
})
export type Recipe = z.infer<typeof recipe>
