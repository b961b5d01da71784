import { describe, expect, it } from 'vitest'
import { checkPool, checkProfile } from '../../../main/core/planner/check-pool.ts'
import { InvalidInputError } from '../../../shared/errors.ts'

const peer = (id: string) => ({
  id,
  memoryBytes: 1,
  flopsPerSecond: 1,
  uploadBytesPerSecond: 1,
  downloadBytesPerSecond: 1,
})
const layer = {
  name: 'l',
  parameterBytes: 1,
  activationBytesPerSample: 1,
  workingBytesPerSample: 1,
  flopsPerSample: 1,
}

function refusal(check: () => unknown): string {
  try {
    check()
  } catch (thrown) {
    if (thrown instanceof InvalidInputError) return thrown.message
    throw thrown
  }
  return 'accepted'
}

describe('a pool file', () => {
  it('is accepted with its defaults', () => {
    expect(checkPool({ peers: [peer('a')] })).toEqual({
      peers: [peer('a')],
      links: [],
      defaultLatencySeconds: 0.02,
    })
  })

  it.each([
    [{ peers: [] }, /^pool: peers: /],
    [{ peers: [{ ...peer('a'), memoryBytes: -1 }] }, /^pool: peers\.0\.memoryBytes: /],
    [{ peers: [peer('a'), peer('a')] }, /two peers have the id "a"/],
    [{ peers: [peer('a')], links: [{ between: ['a', 'b'] }] }, /links\.0 names "b"/],
    [{ peers: [peer('a')], links: [{ between: ['a', 'a'] }] }, /links\.0 joins "a" to itself/],
    ['nonsense', /^pool: /],
  ])('is refused when it is wrong, with the field in the sentence (%#)', (raw, sentence) => {
    expect(refusal(() => checkPool(raw))).toMatch(sentence)
  })
})

describe('a profile file', () => {
  it('is accepted with its defaults', () => {
    expect(checkProfile({ name: 'm', layers: [layer] })).toMatchObject({
      stateFactor: 4,
      microBatch: 16,
      inFlight: 4,
      accumulate: 4,
      averageEveryUpdates: 10,
      backwardFactor: 3,
    })
  })

  it.each([
    [{ name: 'm', layers: [] }, /^profile: layers: /],
    [{ name: 'm', layers: [{ ...layer, flopsPerSample: 0 }] }, /no layer has flopsPerSample above 0/],
    [{ name: 'm', layers: [layer], inFlight: 0 }, /^profile: inFlight: /],
  ])('is refused when it is wrong, with the field in the sentence (%#)', (raw, sentence) => {
    expect(refusal(() => checkProfile(raw))).toMatch(sentence)
  })
})
