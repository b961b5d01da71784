import { describe, expect, it } from 'vitest'
import {
  AbortedError,
  BadMessageError,
  DeviceLostError,
  DeviceMemoryError,
  DoesNotFitError,
  InvalidInputError,
  InvariantError,
  PoolError,
  RefusedError,
  reportOf,
} from '../../shared/errors.ts'

describe('the report of a thrown value', () => {
  it.each<[unknown, string, string]>([
    [new BadMessageError('m'), 'peer-fault', 'bad-message'],
    [new RefusedError('stale-plan', 'm'), 'peer-fault', 'stale-plan'],
    [new InvalidInputError('m'), 'bad-input', 'invalid-input'],
    [new DoesNotFitError(7, 'm'), 'bad-input', 'does-not-fit'],
    [new DeviceMemoryError('m'), 'out-of-resource', 'device-memory'],
    [new DeviceLostError('m'), 'out-of-resource', 'device-lost'],
    [new AbortedError('m'), 'aborted', 'aborted'],
    [new InvariantError('m'), 'bug', 'invariant'],
    [new TypeError('m'), 'bug', 'unexpected'],
    ['m', 'bug', 'unexpected'],
    [new DOMException('m', 'AbortError'), 'aborted', 'aborted'],
  ])('%o has a kind to act on and a code', (thrown, kind, code) => {
    expect(reportOf(thrown)).toEqual({ kind, code, message: 'm' })
  })

  it('keeps class and bytes inside the process', () => {
    const error = new DoesNotFitError(7, 'm')
    expect(error).toBeInstanceOf(PoolError)
    expect(error.shortfallBytes).toBe(7)
  })
})
