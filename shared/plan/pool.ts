/** What the planner plans with: POOL.json and PROFILE.json of the command line, and the same measured by agents. */
import { z } from 'zod'
import { codecChoice } from '../codec/codec.ts'
import { amountOf, countOf, fieldsOf, listOf, nameOf } from './sentences.ts'

/** Far beyond every PC: what is larger was meant in another unit. */
const bytes = amountOf('bytes', 1e16)
const flops = amountOf('FLOPs', 1e20)
const bytesPerSecond = amountOf('bytes a second', 1e15)
const share = amountOf('a share', 1)
const seconds = amountOf('seconds', 3600)

/** How much of the time a PC is there; what is absent takes nothing away. */
export const availability = fieldsOf('an availability', {
  /** Hours a day in which its owner lends it. */
  hoursPerDay: amountOf('hours', 24).optional(),
  /** Of these hours, the share on battery: an agent pauses then unless told otherwise. */
  batteryShare: share.optional(),
  /** Of the hours that were promised, the share in which it really was there so far. */
  reliability: share.optional(),
})
export type Availability = z.infer<typeof availability>

export const poolPeer = fieldsOf('a PC', {
  /** A libp2p peer id, or any name. */
  id: nameOf('an id', 128),
  /** Tensor memory that this peer lends. */
  memoryBytes: bytes,
  /** Measured on a real stage step; 0 leaves the peer out. */
  flopsPerSecond: amountOf('FLOPs a second', 1e20),
  uploadBytesPerSecond: bytesPerSecond,
  downloadBytesPerSecond: bytesPerSecond,
  /** Of each call of its engine, however little it computes; absent: none. */
  callSeconds: seconds.optional(),
  /** False: its engine always runs the forward pass again in the backward pass, unless it is a cluster's last. */
  keeps: z.boolean({ error: 'give true or false' }).optional(),
  /** Absent: always there. */
  availability: availability.optional(),
})
export type PoolPeer = z.infer<typeof poolPeer>

const twoIds = 'give the ids of two PCs, such as ["a", "b"]'

export const poolLink = fieldsOf('a link', {
  between: z.tuple([nameOf('an id', 128), nameOf('an id', 128)], { error: twoIds }),
  latencySeconds: seconds.optional(),
  bytesPerSecond: bytesPerSecond.optional(),
})

export const pool = fieldsOf('a pool', {
  peers: listOf(poolPeer, { wanted: 'a list of at least one PC', least: 1, most: 10_000 }),
  links: listOf(poolLink, { wanted: 'a list of links', most: 1_000_000 }).default([]),
  /** One way. */
  defaultLatencySeconds: seconds.default(0.02),
})
export type Pool = z.infer<typeof pool>

export const layerProfile = fieldsOf('a layer', {
  name: nameOf('a name', 256),
  /** p: bytes of its parameters, with state that is not trained. */
  parameterBytes: bytes,
  /** a: bytes of its output that are sent on. */
  activationBytesPerSample: bytes,
  /** w: bytes a micro-batch in flight takes where the stage keeps least. */
  workingBytesPerSample: bytes,
  /** The same where it keeps what the backward pass needs; absent in any layer: no stage of this model keeps more. */
  keptBytesPerSample: bytes.optional(),
  /** Kept besides by the first layer of such a stage: its input. */
  entryBytesPerSample: bytes.optional(),
  /** f: forward only. */
  flopsPerSample: flops,
})
export type LayerProfile = z.infer<typeof layerProfile>

const factor = amountOf('a factor', 100)

export const modelProfile = fieldsOf('a profile', {
  name: nameOf('a name', 256),
  layers: listOf(layerProfile, { wanted: 'a list of at least one layer', least: 1, most: 4096 }),
  /** s: bytes kept beside a parameter byte (gradient, optimizer, stashed versions). */
  stateFactor: amountOf('a factor', 1e6).default(4),
  /** b: samples in a micro-batch. */
  microBatch: countOf('samples', 65_536).default(16),
  /** K: micro-batches in flight in a cluster. */
  inFlight: countOf('micro-batches', 1024).default(4),
  /** A: micro-batches an update. */
  accumulate: countOf('micro-batches', 4096).default(4),
  /** H. */
  averageEveryUpdates: countOf('updates', 1_000_000).default(10),
  /** β: backward cost in forwards; 3 with recomputation. */
  backwardFactor: factor.default(3),
  /** How activations and gradients travel: `activationBytesPerSample` are those of fp32. */
  codec: codecChoice.default('fp32'),
  /** β of a stage that keeps what its backward pass needs, and of a cluster's last; absent: as the others. */
  keepingBackwardFactor: factor.optional(),
})
export type ModelProfile = z.infer<typeof modelProfile>
