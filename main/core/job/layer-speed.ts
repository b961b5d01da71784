/**
 * What each layer of a model costs an engine, measured once: a formula counts operations, but small, odd and wide layers
 * take times of their own, up to tenfold of what a benchmark's layers of as many operations take.
 */
import type { Recipe } from '../../../shared/job/recipe.ts'
import { median } from '../../../shared/median.ts'
import type { LayerRange, ModelGraph } from '../../../shared/model/graph.ts'
import { layoutOfGraph } from '../../../shared/model/layout.ts'
import { type ModelProfile } from '../../../shared/plan/pool.ts'
import {
  type Bytes,
  type Flops,
  type FlopsPerSecond,
  type Millis,
  type Seconds,
  second,
} from '../../../shared/units.ts'
import { profileOf } from '../model/profile.ts'
import { callsPerMicroBatch } from '../planner/cost.ts'
import type { Clock, StageEngine } from '../ports.ts'
import { measureSpeed } from './benchmark.ts'
import { alwaysRecomputes } from './measured-pool.ts'
import { loadRun, usualAccumulate } from './run-pass.ts'

/** A micro-batch that should take longer is measured with fewer samples. */
const longStep: Seconds = 0.05
/** One pass fills caches, some more are measured: three at least, and more while they are quick. */
const least = 4
const most = 12
const budgetMs: Millis = 100
/** Of a run: what its layers take together is what counts. */
const runBudgetMs: Millis = 300
const looks = 3
/** Of the time of calls that hardly compute anything, so much is work. */
const leastWork = 0.05

export interface LayerSpeedRequest {
  /** Has no stage yet, and has none afterwards. */
  readonly engine: StageEngine
  readonly clock: Clock
  readonly graph: ModelGraph
  readonly recipe: Recipe
  /** Nothing that takes more is loaded, a single layer apart. */
  readonly memoryBytes: Bytes
  /** Of each call, as the engine's benchmark has it; the plan counts it a stage. */
  readonly callSeconds: Seconds
}

/**
 * FLOPs of a sample's forward pass through each layer, as many as the benchmark's engine does in the time that the layer
 * takes, forward, backward and its part of an update, without what the calls cost. Layers of one kind and size are
 * measured once. Runs of layers as long as memory has room for are measured as a whole, too, and what they take is shared
 * out among their layers. Runs and the benchmark take turns, and each is held against the benchmark of the same moment: a PC
 * with other things to do is slower for a second or two, which is no news of the model.
 *
 * @throws what the engine throws
 */
export async function measureLayers(request: LayerSpeedRequest): Promise<readonly Flops[]> {
  const { graph, recipe, engine, clock } = request
  const profile = profileOf(graph, recipe, { inFlight: 1, accumulate: usualAccumulate })
  const speed = () => measureSpeed({ engine, clock })
  let before = await speed()
  const timer = createTimer(request, profile, before)
  const forwards = forwardsOf(engine.backend, profile)
  const runs = runsWithin(request.memoryBytes, profile)
  try {
    const alone = await timeLayers(graph, timer)
    const found: Flops[][] = runs.map(() => [])
    for (let look = 0; look < looks; look++) {
      const seconds = await timeRuns(runs, timer)
      const after = await speed()
      for (const [run, each] of seconds.entries()) found[run]?.push((each * (before + after)) / 2)
      before = after
    }
    return runs.flatMap((run, index) => {
      const apart = alone.slice(...run)
      const sum = apart.reduce((total, each) => total + each, 0)
      const flops = median(found[index] ?? [])
      return apart.map((each, layer) => ((each / sum) * flops) / (forwards[run[0] + layer] ?? 1))
    })
  } finally {
    await engine.unload()
  }
}

/** What a pass forward and backward through each layer takes, in passes forward. */
export function forwardsOf(backend: string, profile: ModelProfile): readonly number[] {
  const { backwardFactor, keepingBackwardFactor = backwardFactor, layers } = profile
  return layers.map((_, layer) => {
    const recomputes = alwaysRecomputes(backend) && layer < layers.length - 1
    return 1 + (recomputes ? backwardFactor : keepingBackwardFactor)
  })
}

async function timeRuns(runs: readonly LayerRange[], timer: Timer): Promise<Seconds[]> {
  const times: Seconds[] = []
  for (const run of runs) times.push(await timer(run, runBudgetMs))
  return times
}

/** Seconds of a sample. */
type Timer = (run: LayerRange, budget?: Millis) => Promise<Seconds>

/** Seconds of each layer as a stage of its own. */
async function timeLayers(graph: ModelGraph, timer: Timer): Promise<Seconds[]> {
  const layouts = layoutOfGraph(graph)
  const known = new Map<string, Seconds>()
  const times: Seconds[] = []
  for (const [index, { name: _name, ...layer }] of graph.layers.entries()) {
    const ends = [index === 0, index === graph.layers.length - 1]
    const kind = JSON.stringify([layer, layouts[index]?.inputShape, ends])
    const seconds = known.get(kind) ?? (await timer([index, index + 1]))
    known.set(kind, seconds)
    times.push(seconds)
  }
  return times
}

/** The model in runs as long as memory allows, at least a layer each. */
export function runsWithin(
  memoryBytes: Bytes,
  { layers, stateFactor, microBatch }: ModelProfile,
): LayerRange[] {
  const runs: LayerRange[] = []
  let from = 0
  let taken = 0
  for (const [index, { parameterBytes, workingBytesPerSample }] of layers.entries()) {
    const bytes = parameterBytes * (1 + stateFactor) + microBatch * workingBytesPerSample
    if (index > from && taken + bytes > memoryBytes) {
      runs.push([from, index])
      from = index
      taken = 0
    }
    taken += bytes
  }
  return [...runs, [from, layers.length]]
}

function createTimer(request: LayerSpeedRequest, profile: ModelProfile, speed: FlopsPerSecond): Timer {
  const { engine, clock, graph, recipe } = request
  return async (layers, budget = budgetMs) => {
    const samples = samplesFor(layers, profile, speed)
    const { accumulate = usualAccumulate } = recipe.schedule
    const pass = await loadRun(engine, { graph, recipe, layers, samples })
    const [passMs = 0, updateMs = 0] = await medianMs({ clock, budget }, [pass, () => engine.update()])
    const tookMs = passMs + updateMs / accumulate
    const calls = callsPerMicroBatch({ accumulate }, layers[1] === graph.layers.length)
    const workMs = tookMs - calls * request.callSeconds * second
    return Math.max(workMs, leastWork * tookMs, Number.EPSILON) / second / samples
  }
}

export function samplesFor(
  [from, to]: LayerRange,
  profile: ModelProfile,
  flopsPerSecond: FlopsPerSecond,
): number {
  const flops = profile.layers.slice(from, to).reduce((sum, layer) => sum + layer.flopsPerSample, 0)
  const seconds = (flops * (1 + (profile.keepingBackwardFactor ?? profile.backwardFactor))) / flopsPerSecond
  return Math.max(1, Math.min(profile.microBatch, Math.floor(longStep / seconds)))
}

/** Of calls made in turns, the first turn left out. */
async function medianMs(
  { clock, budget }: { readonly clock: Clock; readonly budget: Millis },
  calls: readonly ((turn: number) => Promise<unknown>)[],
): Promise<readonly Millis[]> {
  const began = clock.now()
  const times = calls.map((): Millis[] => [])
  for (let turn = 0; turn < most && (turn < least || clock.now() - began < budget); turn++)
    for (const [index, call] of calls.entries()) {
      const before = clock.now()
      await call(turn)
      times[index]?.push(clock.now() - before)
    }
  return times.map((each) => median(each.slice(1)))
}
