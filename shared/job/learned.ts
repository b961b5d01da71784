/** What a host learned from jobs that ended: how far PCs were from their benchmarks, how much they were there, and jobs from their forecasts. */
import { z } from 'zod'
import { peerId } from '../ids.ts'

export const mostLearnedPeers = 256
export const mostLearnedRates = 16

export const learned = z.strictObject({
  /** The newest last. */
  peers: z
    .array(
      z.strictObject({
        peer: peerId,
        /** Seconds that its engine worked on a micro-batch, over those its benchmark promised. */
        slower: z.number().min(0.05).max(20),
        /** Of the time of its jobs, the share in which it was there to train; absent: all of it. */
        reliability: z.number().min(0.05).max(1).optional(),
        runs: z.int().min(1).max(1_000_000),
      }),
    )
    .max(mostLearnedPeers),
  /** Samples a second measured over those forecast, a job each, the newest last. */
  rates: z.array(z.number().min(0.01).max(100)).max(mostLearnedRates),
})
export type Learned = z.infer<typeof learned>
export const nothingLearned: Learned = { peers: [], rates: [] }
