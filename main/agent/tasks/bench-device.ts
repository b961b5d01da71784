/** `rookery bench device`: what this PC is, which backends load and compute rightly, and how fast each trains. */
import { type BackendProbe, backendNames } from '../../edge/engine/tfjs/backend-names.ts'
import { probeBackends } from '../../edge/engine/tfjs/probe.ts'
import { InvalidInputError, reportOf } from '../../../shared/errors.ts'
import type { FlopsPerSecond } from '../../../shared/units.ts'
import { measureSpeed } from '../../core/job/benchmark.ts'
import { whyWrong } from '../../core/job/known-answer.ts'
import { type DeviceDescription, describeDevice } from '../../edge/device/device.ts'
import { loadSettings } from '../../edge/store/settings-file.ts'
import { realClock } from '../clock.ts'
import { computingThreads } from '../computing-threads.ts'
import { accelerators, onProcessor, openEngine } from '../engine.ts'
import type { Backend } from '../engine-choice.ts'

export interface DeviceBench extends DeviceDescription {
  readonly backend: string
  /** That compute, where our own kernels are used. */
  readonly threads?: number
  readonly flopsPerSecond: FlopsPerSecond
  readonly backends: readonly BackendBench[]
}

interface BackendBench extends Omit<BackendProbe, 'name'> {
  readonly name: Backend
  /** Absent where it does not load or computes wrongly. */
  readonly flopsPerSecond?: FlopsPerSecond
  /** What `auto` takes on this PC. */
  readonly chosen: boolean
}

type Measured = Omit<BackendBench, 'chosen'> & { readonly backend?: string }

/** @throws InvalidInputError for a backend that does not load or computes wrongly */
export async function benchDeviceTask({
  home,
  backend = 'auto',
  threads: asked,
}: {
  readonly home: string
  readonly backend?: string
  readonly threads?: number
}): Promise<DeviceBench> {
  const name = backendOf(backend)
  const threads = await threadsOf(home, asked)
  const measured = await measureAll(name, threads)
  const mayBeTaken = measured.filter((one) => autoTakes.has(one.name))
  const chosen = mayBeTaken.toSorted((a, b) => speedIn(b) - speedIn(a))[0]
  const used = name === 'auto' ? chosen : measured.find((one) => one.name === name)
  if (used?.backend === undefined)
    throw new InvalidInputError(`the engine ${used?.name ?? backend} cannot be used: ${used?.reason ?? ''}`)
  return {
    ...(await describeDevice()),
    backend: used.backend,
    ...(used.name === 'kernels' ? { threads } : {}),
    flopsPerSecond: speedIn(used),
    backends: measured.map(({ backend: _named, ...one }) => ({ ...one, chosen: one.name === chosen?.name })),
  }
}

const threadsOf = async (home: string, asked: number | undefined) =>
  computingThreads(asked ?? (await loadSettings(home)).engine.threads)

/** @param named - as the settings name it, or as an engine names itself */
function backendOf(named: string): Backend | 'auto' {
  const names = [...backendNames, 'kernels' as const]
  const own = named.replace(/^tfjs-/, '')
  const name = [...names, 'auto' as const].find((known) => known === own)
  if (name === undefined)
    throw new InvalidInputError(`there is no backend "${named}"; take auto, ${names.join(', ')}`)
  return name
}

/** The others are fast or slow, and used by name alone. */
const autoTakes: ReadonlySet<Backend> = new Set<Backend>([...accelerators, ...onProcessor])

const speedIn = ({ flopsPerSecond = 0 }: Measured): FlopsPerSecond => flopsPerSecond

/** Every backend, or only the one asked for; those that are not measured are told all the same. */
async function measureAll(wanted: Backend | 'auto', threads: number): Promise<readonly Measured[]> {
  const all: Measured[] = []
  const probes = [...(await probeBackends()), { name: 'kernels' as const, loaded: true, reason: '' }]
  for (const probe of probes)
    if (probe.loaded && (wanted === 'auto' || wanted === probe.name))
      all.push(await measure(probe.name, threads))
    else all.push(probe)
  return all
}

async function measure(name: Backend, threads: number): Promise<Measured> {
  try {
    const engine = await openEngine(name, threads)
    try {
      const wrong = await whyWrong(engine)
      if (wrong !== undefined) return { name, loaded: true, reason: wrong }
      const flopsPerSecond = await measureSpeed({ engine, clock: realClock })
      return { name, loaded: true, reason: reasonOf(engine.backend), flopsPerSecond, backend: engine.backend }
    } finally {
      await engine.stop()
    }
  } catch (error) {
    return { name, loaded: false, reason: reportOf(error).message }
  }
}

function reasonOf(backend: string): string {
  const width = /^kernels-(\w+)$/.exec(backend)?.[1]
  return width === undefined
    ? 'It starts and computes rightly.'
    : `Rookery’s own; the ${width} ones are quicker here and compute rightly.`
}
