import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lastRound, Readiness } from '../../../main/core/averaging/readiness.ts'

const members = ['a', 'b', 'c', 'd']
/** A member says that it is ready for a round; low rounds come twice, late and out of order. */
const word = fc.tuple(
  fc.constantFrom(...members, 'stranger'),
  fc.oneof(fc.integer({ min: 1, max: 4 }), fc.constant(lastRound)),
)

/** The rules of the file, word by word, with no sums kept. */
function plain(words: readonly (readonly [string, number])[]) {
  const said = members.map((peer) => ({ peer, ready: 0, stuck: false, drained: false }))
  for (const [peer, round] of words) {
    const one = said.find((each) => each.peer === peer)
    if (one === undefined) continue
    if (round === lastRound) one.drained = true
    else if (round === one.ready) one.stuck = true
    else if (round > one.ready) Object.assign(one, { ready: round, stuck: false })
  }
  const isCalledFor = (round: number) => said.some(({ ready }) => ready === round)
  const missing = (round: number) =>
    said.filter(({ ready, drained }) => ready !== round && !drained).map(({ peer }) => peer)
  return {
    isCalledFor,
    missing,
    isUrgent: (round: number) => said.some(({ ready, stuck }) => ready === round && stuck),
    beginning(next: number) {
      if (missing(next).length > 0) return undefined
      return isCalledFor(next) ? next : lastRound
    },
  }
}

describe('who is ready for which round', () => {
  it('is what everybody said, whatever order it came in', () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 30 }), (words) => {
        const readiness = new Readiness(members)
        for (const [peer, round] of words) readiness.hear(peer, round)
        const rules = plain(words)
        for (const round of [1, 2, 3, 4, 5]) {
          const answers = (of: typeof rules) => ({
            called: of.isCalledFor(round),
            urgent: of.isUrgent(round),
            missing: of.missing(round),
            begins: of.beginning(round),
          })
          expect(answers(readiness)).toEqual(answers(rules))
        }
      }),
      { numRuns: 500, seed: 3 },
    )
  })
})
