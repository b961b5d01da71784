/** Counts what this PC gives while it takes part in jobs, and keeps the count in the home folder. */
import { z } from 'zod'
import { minute, second, type Millis } from '../../../shared/units.ts'
import {
  addContribution,
  type ContributionRecord,
  noContribution,
  onDay,
} from '../../core/job/contribution.ts'
import type { OwnPart } from '../../core/job/participant.ts'
import type { KeptFile } from '../kept-file.ts'

const amount = z.number().min(0)
const contribution = z.object({
  samples: amount,
  trainedSeconds: amount,
  sentBytes: amount,
  receivedBytes: amount,
})
export const contributionFile: z.ZodType<ContributionRecord> = z.object({
  day: z.string().max(10),
  today: contribution,
  total: contribution,
})

/** A crash loses no more than so much of the count. */
const saveEveryMs = minute
const trains: ReadonlySet<OwnPart['state']> = new Set(['training', 'ending-round', 'draining'])
/** Longer between two looks, and this PC was asleep. */
const longestLookMs = 5 * second

export interface CounterPorts {
  readonly file: KeptFile<ContributionRecord>
  readonly nowMs: () => Millis
  /** Local date. */
  readonly day: () => string
  readonly traffic: () => { readonly sentBytes: number; readonly receivedBytes: number }
}

export interface ContributionCounter {
  /** A job begins: its samples count from 0. */
  begin(): void
  /** Count what was given since the look before. Saves once a minute. */
  look(own: OwnPart): void
  shown(): Pick<ContributionRecord, 'today' | 'total'>
  save(): Promise<void>
}

export async function createContributionCounter(ports: CounterPorts): Promise<ContributionCounter> {
  let record = (await ports.file.read()) ?? noContribution(ports.day())
  let before = { atMs: ports.nowMs(), samples: 0, ...ports.traffic() }
  let saved = record
  let savedMs = ports.nowMs()

  async function save(): Promise<void> {
    savedMs = ports.nowMs()
    if (saved === record) return
    saved = record
    await ports.file.write(record)
  }
  return {
    begin() {
      before = { ...before, atMs: ports.nowMs(), samples: 0 }
    },
    look({ state, samples }) {
      const now = { atMs: ports.nowMs(), samples, ...ports.traffic() }
      const passedMs = Math.min(now.atMs - before.atMs, longestLookMs)
      const gave = {
        // A new stage counts from 0 again.
        samples: samples >= before.samples ? samples - before.samples : samples,
        trainedSeconds: trains.has(state) ? passedMs / second : 0,
        sentBytes: now.sentBytes - before.sentBytes,
        receivedBytes: now.receivedBytes - before.receivedBytes,
      }
      before = now
      if (Object.values(gave).some((value) => value > 0)) record = addContribution(record, ports.day(), gave)
      // A full disk: the next minute tries again.
      if (now.atMs - savedMs >= saveEveryMs) save().catch(() => undefined)
    },
    shown() {
      const { today, total } = onDay(record, ports.day())
      return { today, total }
    },
    save,
  }
}
