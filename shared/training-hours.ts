/** What training costs a day, within the hours that the owner allows. */
import type { Limits } from './limits.ts'

/** Mean hours a day in which the hours of the week let this PC train. */
export function trainingHoursPerDay({ hours }: Pick<Limits, 'hours'>): number {
  if (hours === undefined) return 24
  const minutes = hours.flat().reduce((sum, [from, to]) => sum + to - from, 0)
  return minutes / 7 / 60
}

export const perDay = ([low, high]: readonly [number, number], hours: number): [number, number] => [
  low * hours,
  high * hours,
]
