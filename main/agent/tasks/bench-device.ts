/** `rookery bench device`: what this PC is, which backends load, and how fast the chosen one trains. */
import { type BackendProbe, backendNames, probeBackends } from '../../edge/engine/tfjs/backends.ts'
import { startEngineThread } from '../../edge/engine/tfjs/client.ts'
import { InvalidInputError } from '../../../shared/errors.ts'
import { measureSpeed } from '../../core/job/benchmark.ts'
import { type DeviceDescription, describeDevice } from '../../edge/device/device.ts'
import { realClock } from '../clock.ts'

export interface DeviceBench extends DeviceDescription {
  readonly backend: string
  readonly flopsPerSecond: number
  readonly backends: readonly BackendProbe[]
}

/** @throws InvalidInputError for a backend that does not load */
export async function benchDeviceTask({
  backend = 'auto',
}: {
  readonly backend?: string
}): Promise<DeviceBench> {
  const name = [...backendNames, 'auto' as const].find((known) => known === backend)
  if (name === undefined)
    throw new InvalidInputError(`there is no backend "${backend}"; take auto, ${backendNames.join(', ')}`)
  const engine = await startEngineThread({ backend: name })
  try {
    const flopsPerSecond = await measureSpeed({ engine, clock: realClock })
    return {
      ...(await describeDevice()),
      backend: engine.backend,
      flopsPerSecond,
      backends: await probeBackends(),
    }
  } finally {
    await engine.stop()
  }
}
