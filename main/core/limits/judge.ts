/** Judges the owner's limits by the conditions of this moment: how each one stands, and whether we may train. */
import type { Conditions, LimitName, Limits, LimitState } from '../../../shared/limits.ts'
import { describeHours, hoursInForce, minutesUntilAllowed } from './hours.ts'
import { inUnits, memoryInUnits } from './in-units.ts'

/** A cap below this ends every job: not even a heartbeat gets through in time. */
export const leastBytesPerSecond = 8192

type Verdict = Omit<LimitState, 'limit'>

const off = (reason: string): Verdict => ({ state: 'off', reason })
const inForce = (reason: string): Verdict => ({ state: 'in-force', reason })
const allows = (reason: string): Verdict => ({ state: 'allows', reason })
const pausing = (reason: string): Verdict => ({ state: 'pausing', reason })

const rateVerdict = (bytesPerSecond: number, what: string): Verdict =>
  bytesPerSecond === 0
    ? off(`${what} is not capped.`)
    : inForce(`${what} stays below ${inUnits(Math.max(bytesPerSecond, leastBytesPerSecond))} a second.`)

/** One rule a limit; forgetting one does not compile. */
const rules: Readonly<Record<LimitName, (limits: Limits, conditions: Conditions) => Verdict>> = {
  memoryBytes: ({ memoryBytes }) =>
    memoryBytes === 0
      ? off('Half of the memory that is free when a job starts is lent.')
      : inForce(
          `At most ${memoryInUnits(memoryBytes)} of memory are lent; a new value holds from the next job on.`,
        ),
  computeShare: ({ computeShare }) =>
    computeShare === 1
      ? off('The engine may work all the time.')
      : inForce(`The engine rests, so that it works at most ${Math.round(computeShare * 100)}% of the time.`),
  uploadBytesPerSecond: ({ uploadBytesPerSecond }) => rateVerdict(uploadBytesPerSecond, 'The upload'),
  downloadBytesPerSecond: ({ downloadBytesPerSecond }) => rateVerdict(downloadBytesPerSecond, 'The download'),
  trainOnBattery({ trainOnBattery }, { onBattery }) {
    if (trainOnBattery) return off('Training goes on when this PC runs on battery.')
    if (onBattery === undefined) return allows('Nothing on this PC tells of a battery.')
    return onBattery ? pausing('This PC runs on battery.') : allows('This PC is plugged in.')
  },
  idleMinutes({ idleMinutes }, { idleSeconds }) {
    if (idleMinutes === 0) return off('Training goes on while this PC is in use.')
    if (idleSeconds === undefined)
      return allows('Nothing on this PC tells whether keyboard and mouse are used.')
    const wanted = idleMinutes === 1 ? 'the last minute' : `the last ${idleMinutes} minutes`
    return idleSeconds < idleMinutes * 60
      ? pausing(`Keyboard or mouse were used within ${wanted}.`)
      : allows(`Keyboard and mouse were not used within ${wanted}.`)
  },
  hours({ hours }, conditions) {
    const week = hoursInForce(hours)
    if (week === undefined) return off('Training goes on at all hours.')
    const wait = minutesUntilAllowed(week, conditions)
    if (wait === 0)
      return allows(`It is within the hours agreed: ${describeHours(week, conditions.weekday)}.`)
    if (wait === undefined) return pausing('No hour of the week is agreed.')
    return pausing(`It is outside the hours agreed; training may go on in ${inTime(wait)}.`)
  },
  pausePrograms({ pausePrograms }, { programs }) {
    if (pausePrograms.length === 0) return off('No program pauses the training.')
    const [first] = programs
    if (first !== undefined) return pausing(`${first} runs.`)
    return allows(
      pausePrograms.length === 1 ? 'The program named does not run.' : 'None of the programs named runs.',
    )
  },
  networkIsMetered: ({ networkIsMetered }) =>
    networkIsMetered
      ? pausing('This network costs by the byte, you said.')
      : off('This network does not cost by the byte, as far as you said.'),
}

function inTime(minutes: number): string {
  if (minutes < 60) return minutes === 1 ? '1 minute' : `${minutes} minutes`
  const hours = Math.round(minutes / 60)
  return hours === 1 ? '1 hour' : `${hours} hours`
}

/** How every limit stands, in the order of the settings. */
export function judgeLimits(limits: Limits, conditions: Conditions): readonly LimitState[] {
  return (Object.keys(rules) as LimitName[]).map((limit) => ({ limit, ...rules[limit](limits, conditions) }))
}

/** Why the limits hold us back: the first that does; undefined when none does. */
export function pauseReason(states: readonly LimitState[]): string | undefined {
  return states.find(({ state }) => state === 'pausing')?.reason
}
