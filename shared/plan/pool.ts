/** What the planner plans with: POOL.json and PROFILE.json of the command line, and the same measured by agents. */
import { z } from 'zod'
import { codecChoice } from '../codec/codec.ts'
import { peerId } from '../ids.ts'

const amount = z.number().min(0).max(1e24)

export const poolPeer = z.strictObject({
  id: peerId,
  /** Tensor memory that this peer lends. */
  memoryBytes: amount,
  /** Measured on a real stage step; 0 leaves the peer out. */
  flopsPerSecond: amount,
  uploadBytesPerSecond: amount,
  downloadBytesPerSecond: amount,
  /** False: its engine always runs the forward pass again in the backward pass, unless it is a cluster's last. */
  keeps: z.boolean().optional(),
})
export type PoolPeer = z.infer<typeof poolPeer>

export const poolLink = z.strictObject({
  between: z.tuple([peerId, peerId]),
  latencySeconds: amount.optional(),
  bytesPerSecond: amount.optional(),
})

export const pool = z.strictObject({
  peers: z.array(poolPeer).min(1).max(10_000),
  links: z.array(poolLink).max(1_000_000).default([]),
  /** One way. */
  defaultLatencySeconds: amount.default(0.02),
})
export type Pool = z.infer<typeof pool>

export const layerProfile = z.strictObject({
  name: z.string().max(256),
  /** p: bytes of its parameters, with state that is not trained. */
  parameterBytes: amount,
  /** a: bytes of its output that are sent on. */
  activationBytesPerSample: amount,
  /** w: bytes a micro-batch in flight takes where the stage keeps least. */
  workingBytesPerSample: amount,
  /** The same where it keeps what the backward pass needs; absent in any layer: no stage of this model keeps more. */
  keptBytesPerSample: amount.optional(),
  /** Kept besides by the first layer of such a stage: its input. */
  entryBytesPerSample: amount.optional(),
  /** f: forward only. */
  flopsPerSample: amount,
})
export type LayerProfile = z.infer<typeof layerProfile>

export const modelProfile = z.strictObject({
  name: z.string().max(256),
  layers: z.array(layerProfile).min(1).max(4096),
  /** s: bytes kept beside a parameter byte (gradient, optimizer, stashed versions). */
  stateFactor: amount.default(4),
  /** b: samples in a micro-batch. */
  microBatch: z.int().min(1).max(65_536).default(16),
  /** K: micro-batches in flight in a cluster. */
  inFlight: z.int().min(1).max(1024).default(4),
  /** A: micro-batches an update. */
  accumulate: z.int().min(1).max(4096).default(4),
  /** H. */
  averageEveryUpdates: z.int().min(1).max(1_000_000).default(10),
  /** β: backward cost in forwards; 3 with recomputation. */
  backwardFactor: z.number().min(0).max(100).default(3),
  /** How activations and gradients travel: `activationBytesPerSample` are those of fp32. */
  codec: codecChoice.default('fp32'),
  /** β of a stage that keeps what its backward pass needs, and of a cluster's last; absent: as the others. */
  keepingBackwardFactor: z.number().min(0).max(100).optional(),
})
export type ModelProfile = z.infer<typeof modelProfile>
