/** How many threads compute on our own kernels. */
import { availableParallelism } from 'node:os'
import { describeDevice } from '../edge/device/device.ts'

/** More of them wait for memory, which all cores share. */
const most = 16

/** @param setting - `engine.threads`; 0: one for each core but one, at least one */
export async function computingThreads(setting: number): Promise<number> {
  if (setting > 0) return setting
  // A core's second virtual one adds nothing to products that keep the first busy.
  const { physicalCores } = await describeDevice()
  return sparingOne(physicalCores, availableParallelism())
}

/** One of the virtual cores stays free for the agent's other work and for its owner. */
export const sparingOne = (physicalCores: number, virtualCores: number): number =>
  Math.max(1, Math.min(physicalCores, virtualCores - 1, most))
