/**
 * The trained numbers of a stage in versions, each one contiguous block laid out as `shared/model/layout.ts` says.
 *
 * An update works in place unless a micro-batch in flight still needs the newest version; then it writes the next one
 * beside it, so that a version costs its bytes once and no copy. Running statistics are not part of a version.
 */
import { bytesPerFloat } from '../../../../shared/units.ts'
import { type Block, type Heap, allocateZeros } from './memory/heap.ts'

export interface WeightVersion {
  readonly address: number
}

/** From the numbers at an address to those at another, which may be the same. */
type Rewrite = (from: number, to: number) => void

export interface Weights {
  readonly newest: WeightVersion
  /** Bytes that an update needs while a micro-batch in flight holds the newest version. */
  bytesOfAdvance(): number
  /** Keep a version until it is released as often as it was held. */
  hold(version: WeightVersion): void
  release(version: WeightVersion): void
  /** A version beside the newest, held once for the caller. @throws DeviceMemoryError */
  derive(rewrite: Rewrite): WeightVersion
  /** Replace the newest. The old version stays while it is held. @throws DeviceMemoryError; nothing changed */
  advance(rewrite: Rewrite): void
}

interface Version extends WeightVersion {
  readonly block: Block
  holds: number
}

/** All zero. @param length - trained numbers */
export function createWeights(heap: Heap, length: number): Weights {
  const bytes = length * bytesPerFloat
  const versionOf = (block: Block): Version => ({ block, address: block.address, holds: 1 })
  let newest = versionOf(allocateZeros(heap, bytes))
  const release = (version: WeightVersion) => {
    const known = version as Version
    known.holds -= 1
    if (known.holds === 0) heap.free(known.block)
  }
  const derive = (rewrite: Rewrite): Version => {
    const version = versionOf(heap.allocate(bytes))
    rewrite(newest.address, version.address)
    return version
  }
  return {
    get newest() {
      return newest
    },
    bytesOfAdvance: () => (newest.holds > 1 ? bytes : 0),
    hold(version) {
      ;(version as Version).holds += 1
    },
    release,
    derive,
    advance(rewrite) {
      if (newest.holds === 1) {
        rewrite(newest.address, newest.address)
        return
      }
      const before = newest
      newest = derive(rewrite)
      release(before)
    },
  }
}
