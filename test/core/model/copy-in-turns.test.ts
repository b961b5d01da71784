/** Long copies: every number, and a rest between the parts. */
import { expect, it } from 'vitest'
import { copyInTurns } from '../../../main/core/model/copy-in-turns.ts'

it('copies every number to its place, and rests between parts of half a million', async () => {
  const source = Float32Array.from({ length: 1_200_000 }, (_, index) => index % 9973)
  const target = new Float32Array(1_200_005)
  let rests = 0
  await copyInTurns(target, source, 3, () => {
    rests += 1
    return Promise.resolve()
  })
  expect(rests).toBe(2)
  expect(target.subarray(3, 1_200_003)).toEqual(source)
  expect([...target.subarray(0, 3), ...target.subarray(1_200_003)]).toEqual([0, 0, 0, 0, 0])
})

it('does not rest where there is little', async () => {
  const target = new Float32Array(4)
  await copyInTurns(target, Float32Array.of(1, 2), 1, () => Promise.reject(new Error('a rest')))
  expect([...target]).toEqual([0, 1, 2, 0])
})
