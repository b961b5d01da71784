/** What a host tells its members of the job: how it stands, and what is new since the news before. Small and bounded. */
import { z } from 'zod'
import { peerId } from '../ids.ts'
import { jobPhase, logKind, memberState } from './control.ts'

const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER)
const amount = z.number().min(0).max(1e24)

/** Of one message; what is more goes into the next. Together they stay below 16 kB of plain letters. */
export const mostNews = { members: 24, training: 64, validation: 16, log: 6 } as const
/** Characters. */
export const longestNews = { name: 60, reason: 120, text: 240 } as const
/** Points of a whole curve. */
const mostPoints = 512

/** One peer as its host sees it. */
const memberNews = z.strictObject({
  peer: peerId,
  displayName: z.string().max(longestNews.name),
  state: memberState,
  reason: z.string().max(longestNews.reason),
  updates: count,
  samples: count,
  busyShare: z.number().min(0).max(1),
  peakTensorBytes: count,
  maxStaleness: count,
  droppedGradients: count,
  /** Since it was lost. */
  lostForMs: amount.optional(),
})
export type MemberNews = z.infer<typeof memberNews>

/**
 * Points [from, from + length) of a curve that has `total` by now. A piece from 0 begins the curve anew: the host has
 * thinned it; it is whole with the piece that ends at `total`.
 */
const piece = <P extends z.ZodType>(point: P, most: number) =>
  z.strictObject({
    from: z.int().min(0).max(mostPoints),
    total: z.int().min(0).max(mostPoints),
    points: z.array(point).max(most),
  })

/** Updates and loss. */
const trainingPoint = z.tuple([count, z.number()])
/** Updates, loss, accuracy, top5, perplexity. */
const validationPoint = z.tuple([count, z.number(), z.number(), z.number(), z.number()])

export const jobNewsShape = {
  /** Grows by one; 0: from here on everything is told once more. */
  sequence: count,
  hostName: z.string().max(longestNews.name),
  phase: jobPhase,
  text: z.string().max(longestNews.text),
  updates: count,
  targetUpdates: count,
  samples: count,
  samplesPerSecond: amount,
  secondsLeft: z.tuple([amount, amount]).nullable(),
  /** `text` says why. Absent while the training moves. */
  stalledForSeconds: amount.optional(),
  /** Since the last average; absent before the first. */
  averagedForMs: amount.optional(),
  /** Those of whom something changed. */
  members: z.array(memberNews).max(mostNews.members),
  training: piece(trainingPoint, mostNews.training).optional(),
  validation: piece(validationPoint, mostNews.validation).optional(),
  /** Numbered from the job's first line on. */
  log: z
    .array(
      z.strictObject({ number: count, agoMs: amount, kind: logKind, text: z.string().max(longestNews.text) }),
    )
    .max(mostNews.log),
}
export type JobNews = z.infer<z.ZodObject<typeof jobNewsShape>>
