/** What a host remembers of its run beside the weights, so that the run goes on after the host's program ended. */
import { z } from 'zod'
import { peerId } from '../ids.ts'
import { deviceReport, linkReport, progress, trained } from '../messages/wire.ts'
import { scores } from '../model/graph.ts'
import { plan } from '../plan/plan.ts'

const count = z.int().min(0)

const report = progress.omit({ type: true, job: true, plan: true })
const measured = z.array(linkReport).max(10_000).default([])

const member = z.object({
  peer: peerId,
  device: deviceReport,
  addresses: z.array(z.string().max(512)).max(32),
  /** Everything it did under earlier plans. */
  did: report,
  /** What it did under the plan in force; absent: nothing yet. */
  doing: report.optional(),
  /** The ways that it measured. */
  links: measured,
  /** It said goodbye: nobody waits for it. */
  left: z.boolean().default(false),
})

/** The plan in force: its members may train on by it while the host is gone. */
const inForce = z.object({
  plan,
  /** Of the plan that cut the present stages. */
  layoutNumber: count,
  /** Where the training went on under them. */
  from: trained,
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
  /** The host's own PC. */
  own: member.pick({ did: true, doing: true, links: true }).optional(),
  inForce: inForce.optional(),
})
export type RunBook = z.infer<typeof runBook>
