import { describe, expect, it } from 'vitest'
import { measuredPool } from '../../../main/core/job/measured-pool.ts'

const device = { displayName: '', backend: 'wasm', memoryBytes: 100, flopsPerSecond: 5 }
const way = (peer: string, bytesPerSecond: number, roundTripSeconds: number) => ({
  peer,
  bytesPerSecond,
  roundTripSeconds,
})

describe('the measured pool', () => {
  it('takes the best way out and in as a peer’s line, and the slower direction as the pair’s', () => {
    const pool = measuredPool([
      { peer: 'a', device, links: [way('b', 10, 0.4), way('c', 30, 0.1)] },
      { peer: 'b', device, links: [way('a', 20, 0.2), way('c', 5, 0.6)] },
      { peer: 'c', device, links: [way('gone', 99, 0.1)] },
    ])
    expect(
      pool.peers.map(({ id, uploadBytesPerSecond: up, downloadBytesPerSecond: down }) => [id, up, down]),
    ).toEqual([
      ['a', 30, 20],
      ['b', 20, 10],
      ['c', 0, 30],
    ])
    expect(pool.links).toEqual([
      { between: ['a', 'b'], latencySeconds: 0.1, bytesPerSecond: 10 },
      { between: ['a', 'c'], latencySeconds: 0.05, bytesPerSecond: 30 },
      { between: ['b', 'c'], latencySeconds: 0.3, bytesPerSecond: 5 },
    ])
  })

  it('does not leave a lone peer out for want of an uplink', () => {
    const [alone] = measuredPool([{ peer: 'a', device, links: [] }]).peers
    expect(alone?.uploadBytesPerSecond).toBeGreaterThan(0)
  })
})
