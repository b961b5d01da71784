/** Every layer on our own kernels against PyTorch, wide and narrow. */
import { describe, expect, it } from 'vitest'
import { expectedNumbers, referenceCases, relativeError } from '../layers/reference-cases.ts'
import { runCase } from './run-case.ts'

/** Single precision against double precision, small tensors. */
const tolerance = 5e-6

describe.each(['narrow', 'wide'] as const)('layers on %s kernels', (width) => {
  it.each(referenceCases.map((one) => [one.name, one] as const))('agree with PyTorch: %s', (_name, one) => {
    const found = runCase(one, width)
    for (const [name, numbers] of expectedNumbers(one)) {
      if (!one.training && name !== 'output') continue
      expect(relativeError(found.get(name)!, numbers), name).toBeLessThan(tolerance)
    }
  })

  it('give the same bits beyond 2 GB of heap', () => {
    // Bytes that nobody touches cost no memory.
    for (const one of referenceCases) expect(runCase(one, width, 2_400_000_000)).toEqual(runCase(one, width))
  })

  it('give the same bits again', () => {
    for (const one of referenceCases) expect(runCase(one, width)).toEqual(runCase(one, width))
  })
})
