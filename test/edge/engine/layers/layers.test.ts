/** Every layer against PyTorch, on the plain CPU backend and on wasm with our kernels. */
import * as tf from '@tensorflow/tfjs'
import { beforeAll, describe, expect, it } from 'vitest'
import { openBackend } from '../../../../main/edge/engine/tfjs/backends.ts'
import { expectedNumbers, referenceCases, relativeError, runCase } from './reference-cases.ts'

/** Reached: 1.6e-6. Single precision against double precision, small tensors. */
const tolerance = 5e-6

describe.each(['cpu', 'wasm'] as const)('layers on %s', (backend) => {
  beforeAll(() => openBackend(backend))

  it.each(referenceCases.map((one) => [one.name, one] as const))('agree with PyTorch: %s', (_name, one) => {
    const found = runCase(one)
    const expected = expectedNumbers(one)
    expect([...found.keys()].sort()).toEqual([...expected.keys()].sort())
    for (const [name, numbers] of expected) {
      expect(relativeError(found.get(name)!, numbers), name).toBeLessThan(tolerance)
    }
  })

  it.each(referenceCases.map((one) => [one.name, one] as const))(
    'leave no tensor behind: %s',
    (_name, one) => {
      runCase(one)
      const before = tf.memory().numTensors
      runCase(one)
      expect(tf.memory().numTensors).toBe(before)
    },
  )

  it('give the same bits again', () => {
    for (const one of referenceCases) expect(runCase(one)).toEqual(runCase(one))
  })
})
