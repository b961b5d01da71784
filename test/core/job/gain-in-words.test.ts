import { expect, it } from 'vitest'
import { gainInWords } from '../../../main/core/job/gain-in-words.ts'
import type { Prospect } from '../../../shared/messages/cards.ts'

const at = (low: number, high: number): Prospect => ({ samplesPerSecond: [low, high], seconds: [1, 2] })

it('says what one more PC would bring, and when it brings nothing or the first plan', () => {
  const said = [
    { now: at(10, 20), withYou: at(20, 40), withOneMore: at(30, 45) },
    { now: at(10, 20), withYou: at(20, 40), withOneMore: at(20, 41) },
    { now: null, withYou: null, withOneMore: at(1, 2) },
    { now: null, withYou: null, withOneMore: null },
  ].map(gainInWords)
  expect(said).toEqual([
    'One more PC like this one would bring 25 % more samples a second.',
    'One more PC like this one would bring nothing.',
    'One more PC like this one, and the model fits.',
    'The model does not fit yet; more PCs or more memory are needed.',
  ])
})
