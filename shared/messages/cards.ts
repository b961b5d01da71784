/** What a person sees before anything starts: a job to join, models to choose, data to host, a forecast. */
import { z } from 'zod'
import { peerId } from '../ids.ts'

const amount = z.number().min(0)
/** Low and high. */
const range = z.tuple([amount, amount])

/** What a pool is expected to do, by the planner; low and high. */
const prospect = z.strictObject({
  samplesPerSecond: range,
  /** Until the job's target is reached. */
  seconds: range,
})
export type Prospect = z.infer<typeof prospect>

/** A pool as it is, and with more PCs like the one that asks; null: the model does not fit it. */
export const outlook = z.strictObject({
  now: prospect.nullable(),
  withYou: prospect.nullable(),
  withOneMore: prospect.nullable(),
  /** Of the one that asks, while it trains; about as much comes in. */
  uploadBytesPerSecond: range,
})
export type Outlook = z.infer<typeof outlook>

/** A job that an invite leads to, and what joining it would mean for this PC. */
export const joinCard = z.object({
  job: z.string(),
  name: z.string(),
  host: peerId,
  hostName: z.string(),
  model: z.string(),
  parameters: amount,
  /** Milliseconds since 1970. */
  inviteExpiresAt: amount,
  members: amount,
  /** Tensor memory that this PC would lend, at most. */
  memoryBytes: amount,
  /** What this PC alone could train, before links and partners limit it. */
  samplesPerSecond: range,
  /** Per hour of training. */
  uploadBytesPerHour: range,
  downloadBytesPerHour: range,
  /** One sentence. */
  limitedBy: z.string(),
  /** Null: the host has no time to reckon it. */
  outlook: outlook.nullable(),
  /** What one more PC like this one would bring, in one sentence; empty where that is not known. */
  gain: z.string(),
})
export type JoinCard = z.infer<typeof joinCard>

export const modelCard = z.object({
  name: z.string(),
  task: z.string(),
  parameters: amount,
  /** To train it whole on one PC with the default recipe. */
  memoryBytes: amount,
  /** For people: "8×8 values", "64 tokens". */
  input: z.string(),
})
export type ModelCard = z.infer<typeof modelCard>

export const dataPreview = z.object({
  samples: amount,
  validationSamples: amount,
  classes: z.array(z.string()).max(1000),
  /** A few, as text a person understands; pictures as data URLs of PNG. */
  examples: z
    .array(z.object({ label: z.string(), text: z.string().optional(), picture: z.string().optional() }))
    .max(12),
  /** Named by row or file; empty when all is well. */
  faults: z.array(z.object({ where: z.string(), problem: z.string() })).max(100),
})
export type DataPreview = z.infer<typeof dataPreview>

export const hostForecast = z.object({
  byPeers: z
    .array(
      z.object({
        peers: amount,
        fits: z.boolean(),
        seconds: range,
        samplesPerSecond: range,
        /** Of the PC that is given most of it, while it trains. */
        memoryBytes: amount,
        uploadBytesPerHour: amount,
      }),
    )
    .max(16),
  /** One sentence. */
  limitedBy: z.string(),
})
export type HostForecast = z.infer<typeof hostForecast>

/** What a model says to one sample. */
export const answer = z.object({
  sample: z.string(),
  best: z.array(z.object({ label: z.string(), probability: amount })).optional(),
  values: z.array(z.number()).optional(),
  continuation: z.string().optional(),
})
export type Answer = z.infer<typeof answer>
