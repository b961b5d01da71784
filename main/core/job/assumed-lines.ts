/** Lines that nobody has measured: what homes have. */
import type { PoolPeer } from '../../../shared/plan/pool.ts'
import type { BytesPerSecond, Seconds } from '../../../shared/units.ts'
import type { LentPc } from './join-estimate.ts'

export interface Line {
  readonly upload: BytesPerSecond
  readonly download: BytesPerSecond
  /** One way. */
  readonly latencySeconds: Seconds
}

/** One home network, and homes of a usual broadband line: 10 Mbit/s up, 50 down. */
export const nearby: Line = { upload: 50e6, download: 50e6, latencySeconds: 0.001 }
export const apart: Line = { upload: 1.25e6, download: 6.25e6, latencySeconds: 0.02 }

/** A PC of a pool that is only thought of. */
export function assumedPeer(id: string, pc: LentPc, line: Line): PoolPeer {
  const within = (rate: BytesPerSecond, cap: BytesPerSecond) => (cap === 0 ? rate : Math.min(rate, cap))
  return {
    id,
    memoryBytes: pc.memoryBytes,
    flopsPerSecond: pc.flopsPerSecond,
    ...(pc.callSeconds === undefined ? {} : { callSeconds: pc.callSeconds }),
    uploadBytesPerSecond: within(line.upload, pc.uploadBytesPerSecond),
    downloadBytesPerSecond: within(line.download, pc.downloadBytesPerSecond),
  }
}
