/** `rookery bench device`: what this PC is, which backends load, and how fast the chosen one trains. */
import { type BackendProbe, backendNames } from '../../edge/engine/tfjs/backend-names.ts'
import { probeBackends } from '../../edge/engine/tfjs/probe.ts'
import { InvalidInputError, reportOf } from '../../../shared/errors.ts'
import { measureSpeed } from '../../core/job/benchmark.ts'
import { type DeviceDescription, describeDevice } from '../../edge/device/device.ts'
import { realClock } from '../clock.ts'
import { startEngine } from '../engine.ts'

export interface DeviceBench extends DeviceDescription {
  readonly backend: string
  readonly flopsPerSecond: number
  readonly backends: readonly (BackendProbe | KernelsProbe)[]
}

type KernelsProbe = Omit<BackendProbe, 'name'> & { readonly name: 'kernels' }

/** @throws InvalidInputError for a backend that does not load */
export async function benchDeviceTask({
  backend = 'auto',
}: {
  readonly backend?: string
}): Promise<DeviceBench> {
  // As the settings name it, or as an engine names itself.
  const asked = backend.replace(/^tfjs-/, '')
  const name = [...backendNames, 'kernels' as const, 'auto' as const].find((known) => known === asked)
  if (name === undefined)
    throw new InvalidInputError(
      `there is no backend "${backend}"; take auto, ${backendNames.join(', ')}, kernels`,
    )
  const engine = await startEngine(name)
  try {
    const flopsPerSecond = await measureSpeed({ engine, clock: realClock })
    return {
      ...(await describeDevice()),
      backend: engine.backend,
      flopsPerSecond,
      backends: [...(await probeBackends()), await probeKernels()],
    }
  } finally {
    await engine.stop()
  }
}

async function probeKernels(): Promise<KernelsProbe> {
  try {
    const engine = await startEngine('kernels')
    await engine.stop()
    const width = engine.backend.replace('kernels-', '')
    return { name: 'kernels', loaded: true, reason: `Rookery’s own; the ${width} ones are quicker here.` }
  } catch (error) {
    return { name: 'kernels', loaded: false, reason: reportOf(error).message }
  }
}
