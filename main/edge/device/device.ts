/** What this PC is and how much of its memory may be lent. Asked when a job starts, never polled. */
import { cpu, mem, powerShellRelease, powerShellStart } from 'systeminformation'
import { DeviceMemoryError } from '../../../shared/errors.ts'
import { type Bytes, mebibyte } from '../../../shared/units.ts'

/**
 * The few questions we ask of the operating system. `graphics` is not among them on purpose: it takes up to 71 ms,
 * and on Windows a new PowerShell each time.
 */
export interface SystemInformation {
  cpu(): Promise<{
    readonly manufacturer: string
    readonly brand: string
    readonly cores: number
    readonly physicalCores: number
  }>
  mem(): Promise<{ readonly total: Bytes; readonly available: Bytes }>
  /** The most this process may use (a container's limit); 0, or more than the PC has: no limit. */
  constrainedMemory(): Bytes
  readonly platform: string
  readonly architecture: string
}

/** This PC, before anything was measured on it. */
export interface DeviceDescription {
  readonly cpuModel: string
  /** Logical cores. */
  readonly cores: number
  readonly physicalCores: number
  readonly totalMemoryBytes: Bytes
  /** What programs could still take without swapping, caches that may be dropped included. */
  readonly availableMemoryBytes: Bytes
  /** For example `linux x64`. */
  readonly platform: string
}

/** The benchmark cache keeps names up to this length. */
const maxNameLength = 200
/** Less than this is of no use to any job. */
const leastBudgetBytes = 16 * mebibyte

/** The questions, asked of the systeminformation package. On Windows each pair shares one PowerShell. */
export function createSystemInformation(platform: string = process.platform): SystemInformation {
  const inOneShell = async <T>(ask: () => Promise<T>): Promise<T> => {
    if (platform !== 'win32') return ask()
    powerShellStart()
    try {
      return await ask()
    } finally {
      powerShellRelease()
    }
  }
  return {
    cpu: () => inOneShell(cpu),
    mem: () => inOneShell(mem),
    constrainedMemory: () => process.constrainedMemory(),
    platform,
    architecture: process.arch,
  }
}

/** Describe this PC. Takes about a tenth of a second: call it once at the start, not on a timer. */
export async function describeDevice(
  systeminformation: SystemInformation = createSystemInformation(),
): Promise<DeviceDescription> {
  const processor = await systeminformation.cpu()
  const memory = await readMemory(systeminformation)
  const model = `${processor.manufacturer} ${processor.brand}`.trim()
  return {
    cpuModel: (model === '' ? `unknown ${systeminformation.architecture}` : model).slice(0, maxNameLength),
    cores: Math.max(1, processor.cores),
    physicalCores: Math.max(1, processor.physicalCores),
    totalMemoryBytes: memory.total,
    availableMemoryBytes: memory.available,
    platform: `${systeminformation.platform} ${systeminformation.architecture}`,
  }
}

/**
 * Tensor memory this PC lends to a job that starts now.
 *
 * @param setting - `limits.memoryBytes` of the settings; 0: half of what is available at this moment
 * @returns whole bytes, never more than what is available, whatever the setting says
 * @throws DeviceMemoryError when half of what is available is so little that no job could use it
 */
export async function memoryBudget(request: {
  readonly setting: Bytes
  readonly systeminformation?: SystemInformation
}): Promise<Bytes> {
  const { available } = await readMemory(request.systeminformation ?? createSystemInformation())
  const wanted = request.setting > 0 ? request.setting : available / 2
  const budget = Math.floor(Math.min(wanted, available))
  // Whoever names a limit knows why; only our own guess is checked for sense.
  if (budget >= (request.setting > 0 ? 1 : leastBudgetBytes)) return budget
  throw new DeviceMemoryError(
    `only ${Math.floor(budget / mebibyte)} MiB of memory could be lent, and a job needs ${leastBudgetBytes / mebibyte} MiB at least: ` +
      'close other programs, or raise limits.memoryBytes in the settings',
  )
}

/** Total and available bytes, as far as this process may use them. */
async function readMemory(systeminformation: SystemInformation) {
  const { total, available } = await systeminformation.mem()
  const limit = systeminformation.constrainedMemory()
  const most = limit > 0 ? limit : Infinity
  return { total: Math.min(total, most), available: Math.min(available, most) }
}
