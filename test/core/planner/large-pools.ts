/** Large pools as they come: PCs in homes and offices, near each other inside, far across. */
import type { ModelProfile, Pool } from '../../../shared/plan/pool.ts'
import { createRng, nextInt, type Rng } from '../../../shared/random.ts'
import { randomPool, randomProfile } from './random-pools.ts'

type Peer = Pool['peers'][number]

/** Between two amounts, evenly over their orders of magnitude. */
const draw = (rng: Rng, low: number, high: number) => low * (high / low) ** rng.next()

interface Home {
  readonly upload: number
  readonly download: number
  readonly peers: readonly number[]
}

/** Homes of one to six PCs with a line of 2 to 100 Mbit/s up, and now and then an office of up to twenty. */
function drawHomes(rng: Rng, count: number): Home[] {
  const homes: Home[] = []
  for (let next = 0; next < count;) {
    const size = Math.min(count - next, rng.next() < 0.1 ? 8 + nextInt(rng, 13) : 1 + nextInt(rng, 6))
    const upload = draw(rng, 0.25e6, 12.5e6)
    homes.push({
      upload,
      download: upload * (1 + 9 * rng.next()),
      peers: Array.from({ length: size }, (_, index) => next + index),
    })
    next += size
  }
  return homes
}

function drawPeer(rng: Rng, id: number, modelBytes: number, line: Pick<Home, 'upload' | 'download'>): Peer {
  return {
    id: `pc-${id}`,
    memoryBytes: Math.round(draw(rng, modelBytes * 0.08, modelBytes * 1.2)),
    flopsPerSecond: Math.round(draw(rng, 5e9, 5e11)),
    uploadBytesPerSecond: Math.round(line.upload),
    downloadBytesPerSecond: Math.round(line.download),
  }
}

function pairsWithin({ peers }: Home): [number, number][] {
  return peers.flatMap((one, index) => peers.slice(index + 1).map((other): [number, number] => [one, other]))
}

/** As a person types it in: a PC's lines are those of its home; links are known inside homes only. */
export function typedPool(rng: Rng, peers: number, modelBytes: number): Pool {
  const homes = drawHomes(rng, peers)
  return {
    peers: homes.flatMap((home) => home.peers.map((id) => drawPeer(rng, id, modelBytes, home))),
    links: homes.flatMap((home) =>
      pairsWithin(home).map(([a, b]) => ({
        between: [`pc-${a}`, `pc-${b}`],
        latencySeconds: draw(rng, 0.0003, 0.003),
        bytesPerSecond: draw(rng, 5e6, 1.2e8),
      })),
    ),
    defaultLatencySeconds: draw(rng, 0.01, 0.06),
  }
}

/** As agents measure it: a PC's lines are those of its network, the home's line is in the links to other homes. */
export function measuredPool(rng: Rng, peers: number, modelBytes: number): Pool {
  const homes = drawHomes(rng, peers)
  const network = draw(rng, 5e6, 1.2e8)
  const pool: Pool = { peers: [], links: [], defaultLatencySeconds: 0.03 }
  for (const [place, home] of homes.entries()) {
    for (const id of home.peers)
      pool.peers.push(drawPeer(rng, id, modelBytes, { upload: network, download: network }))
    for (const [a, b] of pairsWithin(home))
      pool.links.push({ between: [`pc-${a}`, `pc-${b}`], latencySeconds: draw(rng, 0.0003, 0.003) })
    for (const other of homes.slice(0, place)) {
      const bytesPerSecond = Math.min(home.upload, other.upload)
      const latencySeconds = draw(rng, 0.005, 0.12)
      for (const a of home.peers)
        for (const b of other.peers)
          pool.links.push({ between: [`pc-${b}`, `pc-${a}`], latencySeconds, bytesPerSecond })
    }
  }
  return pool
}

const kinds = [typedPool, measuredPool, randomPool]

/** A large pool of one of three kinds, by turns, with a model of 6 to 40 layers. */
export function largeCase(seed: number, peers: number): { pool: Pool; profile: ModelProfile } {
  const rng = createRng(seed)
  const profile = randomProfile(rng, 6 + nextInt(rng, 35))
  const modelBytes = profile.layers.reduce(
    (sum, layer) =>
      sum +
      layer.parameterBytes * (1 + profile.stateFactor) +
      layer.workingBytesPerSample * profile.microBatch * profile.inFlight,
    0,
  )
  const make = kinds[seed % kinds.length] ?? typedPool
  return { pool: make(rng, peers, modelBytes), profile }
}
