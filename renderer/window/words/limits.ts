/** Limits in words: their names, their settings in one clause, and how each stands now. */
import type { LimitName, LimitState, Limits } from '../../../shared/limits.ts'
import type { Snapshot } from '../../../shared/messages/control.ts'
import { bytesPerSecond, memory, percent } from './numbers.ts'
import { groupDays } from './hours.ts'
import { asSentence } from './sentence.ts'
import { jobRuns } from './this-pc.ts'

export const limitNames: Readonly<Record<LimitName, string>> = {
  computeShare: 'Processor',
  memoryBytes: 'Memory',
  uploadBytesPerSecond: 'Upload',
  downloadBytesPerSecond: 'Download',
  idleMinutes: 'Only when idle',
  trainOnBattery: 'Battery',
  hours: 'Hours',
  pausePrograms: 'Pause for',
  networkIsMetered: 'This network',
}

/** A reason of the agent, its numbers kept with their units. */
export const reasonInWords = (reason: string): string =>
  asSentence(reason).replaceAll(/(?<=\d) (?=(?:bytes|[kMGT]B|minutes?|hours?)\b)/g, '\u00a0')

/** The order of the page: what is used first, when second. */
export const limitOrder = Object.keys(limitNames) as LimitName[]

export const stateWords: Readonly<Record<LimitState['state'], string>> = {
  off: 'Off',
  'in-force': 'In force',
  allows: 'Allows training',
  pausing: 'Pausing',
}

const cap = (value: number): string => (value === 0 ? 'no cap' : `at most ${bytesPerSecond(value)}`)

const clauses: Readonly<Record<LimitName, (limits: Limits) => string>> = {
  computeShare: ({ computeShare }) =>
    computeShare === 1 ? 'as much as training needs' : `at most ${percent(computeShare)} of the time`,
  memoryBytes: ({ memoryBytes }) =>
    memoryBytes === 0 ? 'half of what is free when a job starts' : `at most ${memory(memoryBytes)}`,
  uploadBytesPerSecond: ({ uploadBytesPerSecond }) => cap(uploadBytesPerSecond),
  downloadBytesPerSecond: ({ downloadBytesPerSecond }) => cap(downloadBytesPerSecond),
  idleMinutes: ({ idleMinutes }) =>
    idleMinutes === 0
      ? 'also while somebody uses this PC'
      : `after ${idleMinutes} min without keyboard or mouse`,
  trainOnBattery: ({ trainOnBattery }) =>
    trainOnBattery ? 'train on battery too' : 'pause on battery, go on when the charger is back',
  hours: ({ hours }) =>
    hours === undefined
      ? 'at all hours'
      : groupDays(hours)
          .map(({ days, words }) => `${days} ${words}`)
          .join('; '),
  pausePrograms: ({ pausePrograms }) =>
    pausePrograms.length === 0 ? 'no program pauses training' : `while ${pausePrograms.join(', ')} runs`,
  networkIsMetered: ({ networkIsMetered }) => (networkIsMetered ? 'metered: pause' : 'not metered'),
}

/** The setting of one limit in one clause. */
export const limitInWords = (name: LimitName, limits: Limits): string => clauses[name](limits)

type Use = Snapshot['use']

const used: Partial<Record<LimitName, (use: Use) => string>> = {
  computeShare: ({ cpuShare }) => `${percent(cpuShare)} of the time`,
  memoryBytes: ({ memoryBytes }) => memory(memoryBytes),
  uploadBytesPerSecond: ({ uploadBytesPerSecond }) => bytesPerSecond(uploadBytesPerSecond),
  downloadBytesPerSecond: ({ downloadBytesPerSecond }) => bytesPerSecond(downloadBytesPerSecond),
}

/** How much of what a limit caps is in use while a job runs; else nothing. */
export function useWords(name: LimitName, snapshot: Snapshot | null): string {
  const say = used[name]
  return say === undefined || snapshot === null || !jobRuns(snapshot) ? '' : `In use: ${say(snapshot.use)}.`
}

export interface WayOut {
  readonly label: string
  readonly change: Partial<Limits>
}

/** How to train on in spite of a limit that pauses; undefined where only its page can tell. */
export function wayOut(name: LimitName): WayOut | undefined {
  if (name === 'trainOnBattery') return { label: 'Train on battery too', change: { trainOnBattery: true } }
  if (name === 'idleMinutes') return { label: 'Train while this PC is in use', change: { idleMinutes: 0 } }
  if (name === 'networkIsMetered')
    return { label: 'This network is not metered', change: { networkIsMetered: false } }
  return undefined
}
