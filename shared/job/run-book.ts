/** What a host remembers of its run beside the weights, so that the run goes on after the host's program ended. */
import { z } from 'zod'
import { peerId } from '../ids.ts'
import { deviceReport, progress, trained } from '../messages/wire.ts'
import { scores } from '../model/graph.ts'

const count = z.int().min(0)

const member = z.object({
  peer: peerId,
  device: deviceReport,
  addresses: z.array(z.string().max(512)).max(32),
  /** Everything it did so far. */
  did: progress.omit({ type: true, job: true, plan: true }),
})

export const runBook = z.object({
  /** Of the newest plan that was sent. */
  planNumber: count,
  /** What the kept checkpoints hold: the samples in the model after so many updates. */
  trained: z.array(trained).max(8),
  secondsTrained: z.number().min(0),
  trainingCurve: z.array(z.object({ updates: count, loss: z.number() })).max(512),
  validationCurve: z.array(z.object({ updates: count, scores })).max(512),
  members: z.array(member).max(10_000),
})
export type RunBook = z.infer<typeof runBook>
