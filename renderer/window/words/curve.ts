/** The points of the loss curve as a plot takes them, its axis, and the same in one sentence. */
import type { JobView } from '../../../shared/messages/control.ts'
import { count } from './numbers.ts'

export interface CurveColumns {
  /** Updates, rising. */
  readonly x: number[]
  readonly loss: (number | null)[]
  readonly validation: (number | null)[]
}

const usable = (value: number): boolean => Number.isFinite(value)

/** One column of updates for both curves; where one has no point, null. */
export function columnsOf(job: Pick<JobView, 'trainingCurve' | 'validationCurve'>): CurveColumns {
  const training = new Map<number, number>()
  const validation = new Map<number, number>()
  for (const { updates, loss } of job.trainingCurve) if (usable(loss)) training.set(updates, loss)
  for (const { updates, scores } of job.validationCurve)
    if (usable(scores.loss)) validation.set(updates, scores.loss)
  const x = [...new Set([...training.keys(), ...validation.keys()])].sort((a, b) => a - b)
  return {
    x,
    loss: x.map((at) => training.get(at) ?? null),
    validation: x.map((at) => validation.get(at) ?? null),
  }
}

const steps = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8]

/** Round values on a log axis from just below the least to just above the greatest; at most about seven. */
export function logTicks(least: number, greatest: number): number[] {
  const ticks: number[] = []
  for (let power = Math.floor(Math.log10(least)) - 1; power <= Math.ceil(Math.log10(greatest)); power++)
    ticks.push(...steps.map((step) => Number((step * 10 ** power).toPrecision(2))))
  const from = Math.max(
    0,
    ticks.findLastIndex((tick) => tick <= least),
  )
  const to = ticks.findIndex((tick) => tick >= greatest)
  const inside = ticks.slice(from, (to === -1 ? ticks.length - 1 : Math.max(to, from + 1)) + 1)
  const every = Math.ceil(inside.length / 7)
  return inside.filter((_, index) => index % every === 0 || index === inside.length - 1)
}

/** Why there is no curve, or undefined where there is one. */
export function noCurveReason(job: JobView): string | undefined {
  if (job.trainingCurve.length + job.validationCurve.length > 0) return undefined
  if (['gathering', 'planning', 'preparing'].includes(job.phase))
    return 'The curve begins with the first update; training has not started yet.'
  if (job.role === 'member')
    return 'This PC does not compute the loss: the PC with the last layers does, and the host tells of it soon.'
  return 'The first update is not done yet.'
}

/** For people who hear it. */
export function curveInWords(job: JobView): string {
  const [first, last] = [job.trainingCurve.at(0), job.trainingCurve.at(-1)]
  const validation = job.validationCurve.at(-1)
  const parts: string[] = []
  if (first !== undefined && last !== undefined) {
    const moved = last.loss < first.loss ? 'fell' : 'went'
    parts.push(
      `Loss ${moved} from ${lossWords(first.loss)} to ${lossWords(last.loss)} by update ${count(last.updates)}`,
    )
  }
  if (validation !== undefined) parts.push(`validation is at ${lossWords(validation.scores.loss)}`)
  return parts.length === 0 ? 'No loss yet.' : `${parts.join('; ')}.`
}

export const lossWords = (value: number): string =>
  value < 0.01 ? value.toPrecision(2) : value.toFixed(value < 1 ? 3 : 2)
