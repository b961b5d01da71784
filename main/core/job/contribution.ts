/** What this PC gave: today, and since it was installed. */
import type { Contribution } from '../../../shared/messages/control.ts'

export interface ContributionRecord {
  /** Local date of `today`, for example `2026-11-29`. */
  readonly day: string
  readonly today: Contribution
  readonly total: Contribution
}

const nothing: Contribution = { samples: 0, trainedSeconds: 0, sentBytes: 0, receivedBytes: 0 }

export const noContribution = (day: string): ContributionRecord => ({ day, today: nothing, total: nothing })

function sum(one: Contribution, other: Contribution): Contribution {
  return {
    samples: one.samples + other.samples,
    trainedSeconds: one.trainedSeconds + other.trainedSeconds,
    sentBytes: one.sentBytes + other.sentBytes,
    receivedBytes: one.receivedBytes + other.receivedBytes,
  }
}

/** The record on a day: after midnight, today begins at nothing. */
export function onDay(record: ContributionRecord, day: string): ContributionRecord {
  return record.day === day ? record : { ...record, day, today: nothing }
}

export function addContribution(
  record: ContributionRecord,
  day: string,
  gave: Contribution,
): ContributionRecord {
  const { today, total } = onDay(record, day)
  return { day, today: sum(today, gave), total: sum(total, gave) }
}
