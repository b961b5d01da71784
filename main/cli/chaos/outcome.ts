/** What a chaos run found out: its result line, and a timeline for people. */
import { join } from 'node:path'
import { z } from 'zod'
import type { JobResult } from '../../../shared/messages/control.ts'
import { second, type Millis } from '../../../shared/units.ts'
import { AgentEndedError } from '../errors.ts'
import { readJsonFile } from '../json-file.ts'
import { formatCount, formatLoss } from '../view/numbers.ts'
import type { ChaosSeen } from './chaos-run.ts'
import { secondsOf } from './pulse.ts'
import type { Blow } from './record.ts'
import { faultKinds, type FaultKind } from './schedule.ts'

/** The host's own books in report.json. Null: it does not say. */
const books = z.object({
  samples: z.number(),
  lostSamples: z.number().nullable().default(null),
  doubledSamples: z.number().nullable().default(null),
})

export interface Samples {
  readonly trained: number
  readonly lost: number | null
  readonly doubled: number | null
}

/** @throws AgentEndedError without a model; InvalidInputError for a report that is none */
export async function samplesOf({ model }: JobResult): Promise<Samples> {
  if (model === null) throw new AgentEndedError('the job ended without a model, and so without a report')
  const { samples, lostSamples, doubledSamples } = await readJsonFile(join(model, 'report.json'), books)
  return { trained: samples, lost: lostSamples, doubled: doubledSamples }
}

export interface ChaosOutcome {
  readonly seen: ChaosSeen
  readonly samples: Samples
  readonly loss: number
  readonly undisturbedLoss: number
}

/** The last line of `rookery chaos --json`. */
export function chaosResult({ seen, samples, loss, undisturbedLoss }: ChaosOutcome) {
  return {
    event: 'result',
    faults: countFaults(seen.record.blows),
    samples,
    longestStallSeconds: secondsOf(seen.pulse.longest),
    recoverySeconds: recoveryOf(seen.record.blows),
    pauses: pausesOf(seen.record.blows),
    loss,
    undisturbedLoss,
  }
}

function countFaults(blows: readonly Blow[]): Partial<Record<FaultKind, number>> {
  const counts = faultKinds.map(
    (kind) => [kind, blows.filter(({ fault }) => fault.kind === kind).length] as const,
  )
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}

/** From a fault, or from its end, until the pool trained again. `faults`: so many stopped the training at all. */
function recoveryOf(blows: readonly Blow[]) {
  const all = blows.map(({ stalls }) => Math.max(0, ...stalls.map(({ recoverySeconds }) => recoverySeconds)))
  const stopped = all.filter((seconds) => seconds > 0).sort((a, b) => a - b)
  const middle = Math.floor(stopped.length / 2)
  const upper = stopped[middle] ?? 0
  const median = stopped.length % 2 === 1 ? upper : ((stopped[middle - 1] ?? 0) + upper) / 2
  return { median: Math.round(median * 10) / 10, max: stopped.at(-1) ?? 0, faults: stopped.length }
}

/** The slowest pause and the slowest resume; null where none was seen. */
function pausesOf(blows: readonly Blow[]) {
  const slowest = (all: readonly (number | undefined)[]) => {
    const seen = all.flatMap((seconds) => seconds ?? [])
    return seen.length === 0 ? null : Math.max(...seen)
  }
  return {
    pausedSeconds: slowest(blows.map(({ pausedSeconds }) => pausedSeconds)),
    // One that never was in force had nothing to resume.
    resumedSeconds: slowest(
      blows.map(({ pausedSeconds, resumedSeconds }) =>
        pausedSeconds === undefined ? undefined : resumedSeconds,
      ),
    ),
  }
}

export function clockText(atMs: Millis): string {
  const whole = Math.round(atMs / second)
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`
}

/** A line a fault, and what the longest stall was about. */
export function timelineText({ record, pulse }: ChaosSeen): string {
  const rows = record.blows.map((blow) => {
    const { fault, atMs, overMs } = blow
    const until = overMs === undefined || fault.kind === 'join' ? '' : `until ${clockText(overMs)}`
    const when = `${clockText(atMs).padStart(6)}  ${fault.kind.padEnd(7)}${fault.peer.padEnd(9)}${until.padEnd(12)}`
    return `${when}${effectText(blow)}`
  })
  return [
    'What happened, and what it did to the training:',
    ...rows,
    '',
    longestText({ record, pulse }),
  ].join('\n')
}

function effectText({ stalls, failed, pausedSeconds, resumedSeconds }: Blow): string {
  const stopped = stalls.map(
    ({ stall }) => `stopped ${secondsOf(stall).toFixed(1)} s at ${clockText(stall.fromMs)}`,
  )
  const failure = failed === undefined ? [] : [`failed: ${failed}`]
  const heeded = [
    ...(pausedSeconds === undefined ? [] : [`paused after ${pausedSeconds.toFixed(1)} s`]),
    ...(resumedSeconds === undefined ? [] : [`back after ${resumedSeconds.toFixed(1)} s`]),
  ]
  return [...(stopped.length > 0 ? stopped : ['trained on']), ...heeded, ...failure].join('; ')
}

function longestText({ record, pulse }: ChaosSeen): string {
  const { longest } = pulse
  const cause = record.causeOf(longest)
  const after =
    cause === undefined
      ? 'before any fault'
      : `after the ${cause.blow.fault.kind} of ${cause.blow.fault.peer}`
  const said = record.saidDuring(longest).slice(0, 4)
  const why = said.map(({ text, seconds }) => `  ${seconds.toFixed(1)} s  ${text}`)
  return [
    `The longest time without training: ${secondsOf(longest).toFixed(1)} s from ${clockText(longest.fromMs)}, ${after}.`,
    ...(why.length === 0 ? [] : ['The host showed meanwhile:', ...why]),
  ].join('\n')
}

/** The figures for people. */
export function chaosText(outcome: ChaosOutcome): string {
  const { faults, samples, recoverySeconds, longestStallSeconds, pauses } = chaosResult(outcome)
  const many = Object.values(faults).reduce((sum, count) => sum + count, 0)
  const kinds = Object.entries(faults).map(([kind, count]) => `${kind} ${count}`)
  const { median, max } = recoverySeconds
  return [
    `${many} faults (${kinds.join(', ')}); ${recoverySeconds.faults} of them stopped the training, for ${median.toFixed(1)} s in the median and ${max.toFixed(1)} s at most.`,
    `The longest time without training was ${longestStallSeconds.toFixed(1)} s.`,
    ...(pauses.pausedSeconds === null
      ? []
      : [
          `The slowest pause was in force after ${pauses.pausedSeconds.toFixed(1)} s, the slowest resume after ${(pauses.resumedSeconds ?? 0).toFixed(1)} s.`,
        ]),
    `Samples trained: ${formatCount(samples.trained)}; lost: ${countText(samples.lost)}; trained twice: ${countText(samples.doubled)}.`,
    `Loss on held-out samples ${formatLoss(outcome.loss)}; one PC undisturbed, on as many samples: ${formatLoss(outcome.undisturbedLoss)}.`,
  ].join('\n')
}

const countText = (count: number | null): string => (count === null ? 'not counted' : formatCount(count))
