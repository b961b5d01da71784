/**
 * `npm run bench -- gpu [--json]`: for a machine with a graphics card, a few minutes. First whether WebGPU (and
 * tfjs-node-gpu, where it is installed) computes what our own kernels do, then samples a second beside PyTorch on the
 * same GPU, where it is present. Figures of one run, in turns. `ROOKERY_BENCH_TINY=1` makes everything small, to see
 * that the script works on a GPU that the processor imitates.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { resolveModel } from '../../main/agent/models.ts'
import { initialState } from '../../main/core/model/initial-state.ts'
import type { StageEngine } from '../../main/core/ports.ts'
import type { EngineThread } from '../../main/edge/engine/protocol.ts'
import { startEngineThread } from '../../main/edge/engine/tfjs/client.ts'
import { probeBackend } from '../../main/edge/engine/tfjs/probe.ts'
import { startWasmEngineThread } from '../../main/edge/engine/wasm/client.ts'
import { InvalidInputError, InvariantError } from '../../shared/errors.ts'
import { recipe } from '../../shared/job/recipe.ts'
import type { ModelGraph } from '../../shared/model/graph.ts'
import { batchOf, differenceOf, stepOf } from '../measures/preset-step.ts'
import { smallPresets } from '../measures/small-presets.ts'
import { median } from '../../shared/median.ts'

const tiny = process.env['ROOKERY_BENCH_TINY'] === '1'
const warmUps = tiny ? 1 : 3
const rounds = tiny ? 2 : 11
/** The batches of the presets' own recipes, and larger ones that fill a large GPU. */
const batches: Readonly<Record<string, readonly number[]>> = tiny
  ? { 'gpt-mini': [1] }
  : { resnet18: [16, 128], 'gpt-mini': [16, 128] }
const samplesCompared = tiny ? 1 : 4

type Figures = Record<string, number>
const say = (text: string) => process.stderr.write(`${text}\n`)

export async function benchGpu(): Promise<Figures> {
  const engines = await openEngines()
  try {
    const differences = await differencesOf(engines)
    const speeds: Figures = {}
    for (const [name, sizes] of Object.entries(batches))
      for (const batch of sizes) Object.assign(speeds, await speedsOf(engines, { name, batch }))
    return { ...differences, ...speeds }
  } finally {
    await Promise.all([...engines.values()].map((engine) => engine.stop()))
  }
}

/** @throws InvalidInputError where no GPU opens */
async function openEngines(): Promise<ReadonlyMap<string, EngineThread>> {
  const engines = new Map<string, EngineThread>()
  for (const backend of ['webgpu', 'node-gpu'] as const) {
    const { loaded, reason } = await probeBackend(backend)
    say(`${backend}: ${reason}`)
    if (loaded) engines.set(backend, await startEngineThread({ backend }))
  }
  if (engines.size === 0) throw new InvalidInputError('no GPU opens on this machine, for the reasons above')
  return engines
}

/** Largest difference from our own kernels over one step of each model, as a share of the gradient. */
async function differencesOf(engines: ReadonlyMap<string, EngineThread>): Promise<Figures> {
  const presets = await smallPresets()
  const small = tiny ? presets.filter(({ name }) => name === 'gpt-mini') : presets
  const graphs = tiny ? small : [...small, await resolveModel('resnet18'), await resolveModel('gpt-mini')]
  const kernels = await startWasmEngineThread({ kernels: 'narrow', threads: 1 })
  const figures: Figures = {}
  for (const [at, graph] of graphs.entries()) {
    const wanted = await stepOf(kernels, graph, samplesCompared)
    for (const [backend, engine] of engines)
      figures[`${graph.name}${at < small.length ? ' made small' : ''} ${backend} differs by`] = differenceOf(
        await stepOf(engine, graph, samplesCompared),
        wanted,
      )
  }
  await kernels.stop()
  return figures
}

/** Samples a second by engine, from the median of the rounds. */
async function speedsOf(
  engines: ReadonlyMap<string, EngineThread>,
  { name, batch }: { readonly name: string; readonly batch: number },
): Promise<Figures> {
  const presets = tiny ? await smallPresets() : [await resolveModel(name)]
  const graph = presets.find((preset) => preset.name === name)
  if (graph === undefined) throw new InvariantError(`there is no preset ${name}`)
  const runs = await Promise.all(
    [...engines].map(async ([backend, engine]) => ({
      backend,
      step: await stepper(engine, graph, batch),
      times: [] as number[],
    })),
  )
  for (let round = 0; round < warmUps + rounds; round++)
    for (const { step, times } of runs) {
      const before = performance.now()
      await step()
      if (round >= warmUps) times.push(performance.now() - before)
    }
  const ours = Object.fromEntries(
    runs.map(({ backend, times }) => [
      `${name}${tiny ? ' made small' : ''} batch ${batch} ${backend} samples/s`,
      (1000 * batch) / median(times),
    ]),
  )
  return { ...ours, ...torchSpeed(name, batch) }
}

/** A whole step: the next call waits for the one before, and the update for the GPU. */
async function stepper(engine: StageEngine, graph: ModelGraph, batch: number): Promise<() => Promise<void>> {
  const { optimizer, learningRate } = recipe.parse({})
  const layers = [0, graph.layers.length] as const
  await engine.load({ graph, layers, optimizer, learningRate, seed: 0, memoryBudgetBytes: 0 })
  await engine.writeState(initialState(graph, layers, 0))
  const given = batchOf(graph, batch)
  let microBatch = 0
  return async () => {
    await engine.forwardLoss({ microBatch: microBatch++, ...given, predictUpdates: 0 })
    await engine.update()
  }
}

/** Debian's python3-torch belongs to Debian's Python, which need not be the first on the path. */
const pythons = ['python3', '/usr/bin/python3']

/** PyTorch on the same GPU; on the processor where all is tiny. Says so where there is none. */
function torchSpeed(name: string, batch: number): Figures {
  const script = join(import.meta.dirname, 'gpu-torch.py')
  const given = [script, name, String(batch), String(rounds), tiny ? 'cpu' : 'gpu']
  let reason = 'there is no python3'
  for (const python of pythons) {
    const { status, stdout, stderr, error } = spawnSync(python, given, { encoding: 'utf8' })
    if (status === 0) return { [`${name} batch ${batch} torch samples/s`]: Number(stdout) }
    if (error === undefined) reason = stderr.trim().split('\n').at(-1) ?? reason
  }
  say(`${name}: PyTorch is not compared: ${reason}`)
  return {}
}
