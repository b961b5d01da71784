/** Names that other people chose, made safe to stand within a sentence of ours. */

/** Marks that turn the direction of all text behind them. */
const turning = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/

/** The name without direction marks; one that is read from right to left keeps that to itself. */
export function shownName(name: string): string {
  const plain = name.replaceAll(turning, '')
  return rightToLeft.test(plain) ? `\u2068${plain}\u2069` : plain
}
