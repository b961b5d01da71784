/** Names that other people chose, made safe to stand within a sentence of ours. */
import type { JobView } from '../../../shared/messages/control.ts'

/** Marks that turn the direction of all text behind them. */
const turning = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/

/** The name without direction marks; one that is read from right to left keeps that to itself. */
export function shownName(name: string): string {
  const plain = name.replaceAll(turning, '')
  return rightToLeft.test(plain) ? `\u2068${plain}\u2069` : plain
}

/** The job with its names made so, also where the agent's sentences say them. */
export function withShownNames(job: JobView): JobView {
  const unsafe = job.members
    .map(({ displayName }) => [displayName, shownName(displayName)] as const)
    .filter(([given, shown]) => given !== shown && given !== '')
  const named = (text: string): string =>
    unsafe.reduce((said, [given, shown]) => said.replaceAll(given, () => shown), text)
  return {
    ...job,
    name: shownName(job.name),
    ...(job.hostName === undefined ? {} : { hostName: shownName(job.hostName) }),
    text: named(job.text),
    members: job.members.map((member) => ({
      ...member,
      displayName: shownName(member.displayName),
      reason: named(member.reason),
    })),
    log: job.log.map((line) => ({ ...line, text: named(line.text) })),
  }
}
