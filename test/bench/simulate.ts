/**
 * The simulator on a thousand PCs in 250 homes: ten minutes of a job that averages as often as jobs usually do, and of
 * one that does hardly anything else. Seconds with planning, and the most memory. `npm run bench -- simulate [--json]`.
 */
import { simulateTask } from '../../main/agent/tasks/simulate.ts'
import { InvalidInputError } from '../../shared/errors.ts'
import { modelProfile, type Pool, pool as poolSchema } from '../../shared/plan/pool.ts'

const homes = 250
const perHome = 4
const minutes = 10

/** Fast lines at home, 100 Mbit/s and 30 ms between homes. */
function thousand(): Pool {
  const name = (home: number, pc: number) => `pc-${home * perHome + pc}`
  const pcs = Array.from({ length: perHome }, (_, pc) => pc)
  const ofHomes = Array.from({ length: homes }, (_, home) => home)
  return poolSchema.parse({
    peers: ofHomes.flatMap((home) =>
      pcs.map((pc) => ({
        ...{ id: name(home, pc), memoryBytes: 45e6, flopsPerSecond: 2e10 },
        ...{ uploadBytesPerSecond: 12.5e6, downloadBytesPerSecond: 12.5e6 },
      })),
    ),
    links: ofHomes.flatMap((home) =>
      pcs.flatMap((one) =>
        pcs
          .filter((other) => other > one)
          .map((other) => ({
            between: [name(home, one), name(home, other)],
            ...{ latencySeconds: 0.0005, bytesPerSecond: 1e8 },
          })),
      ),
    ),
    defaultLatencySeconds: 0.03,
  })
}

const profileOf = (averageEveryUpdates: number) =>
  modelProfile.parse({
    ...{ name: 'twelve layers', inFlight: 5, accumulate: 8, averageEveryUpdates },
    layers: Array.from({ length: 12 }, (_, index) => ({
      ...{ name: `layer-${index}`, parameterBytes: 2e6, activationBytesPerSample: 1.6e4 },
      ...{ workingBytesPerSample: 5e4, flopsPerSample: 3e8 },
    })),
  })

/** Updates between two averages. */
const parts = { 'averages every 10 updates': 10, 'averages all the time': 2 }
const megabyte = 1e6
const kilobyte = 1e3

/** @throws InvalidInputError where the pool holds no plan */
export async function benchSimulate(only: readonly string[]): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const [name, averageEveryUpdates] of Object.entries(parts)) {
    if (only.length > 0 && !only.includes(name)) continue
    const beganMs = performance.now()
    const { report } = await simulateTask({
      ...{ pool: thousand(), profile: profileOf(averageEveryUpdates), seed: 0, minutes },
      ...{ stragglers: 'none', loss: 0, trace: false },
    })
    if (!report.feasible) throw new InvalidInputError(report.reason)
    found[`${name}: participants`] = report.participants
    found[`${name}: rounds of a ring`] = report.rounds.averaged / report.participants
    found[`${name}: samples/s`] = report.samplesPerSecond
    found[`${name}: seconds`] = (performance.now() - beganMs) / 1000
    found[`${name}: most MB`] = (process.resourceUsage().maxRSS * kilobyte) / megabyte
  }
  return found
}
