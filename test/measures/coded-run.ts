/** What a codec does to learning: a model cut into stages, trained in virtual time, its validation loss at the end. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { initialState } from '../../main/core/model/initial-state.ts'
import { createBatchOrder } from '../../main/core/pipeline/order.ts'
import { type Stage, createStage } from '../../main/core/pipeline/stage.ts'
import type { BatchSource, StageEngine } from '../../main/core/ports.ts'
import type { Codec } from '../../shared/codec/codec.ts'
import { learningRateSchedule, optimizer } from '../../shared/job/recipe.ts'
import type { LayerRange, ModelGraph } from '../../shared/model/graph.ts'
import { type VirtualClock, createVirtualClock } from '../fakes/clock.ts'
import { type FakeNetwork, createFakeNetwork } from '../fakes/links.ts'

const samplesFolder = join(import.meta.dirname, '../../resources/samples')

export interface Samples {
  readonly source: BatchSource
  readonly trainSamples: number
  readonly validationSamples: number
}

/** The sample digits, in the file's order: 1437 to train on, 360 to validate with. */
export function digits(): Samples {
  const text = gunzipSync(readFileSync(join(samplesFolder, 'digits.csv.gz'))).toString()
  const rows = text.trim().split('\n').map((line) => line.split(',').map(Number)) // prettier-ignore
  const of = (index: number) => rows[index] ?? []
  return {
    trainSamples: 1437,
    validationSamples: 360,
    source: {
      inputs({ rows: asked }) {
        const pixels = [...asked].flatMap((row) => of(row).slice(0, 64).map((pixel) => (pixel - 4.9) / 6)) // prettier-ignore
        return Promise.resolve({
          dtype: 'float32',
          shape: [asked.length, 8, 8, 1],
          data: Float32Array.from(pixels),
        })
      },
      labels({ rows: asked }) {
        const data = Int32Array.from(asked, (row) => of(row)[64] ?? 0)
        return Promise.resolve({ dtype: 'int32', shape: [asked.length], data })
      },
    },
  }
}

/** Windows of bytes of the sample text that do not overlap; the last twentieth validates, at most 256 of them. */
export function text(length: number): Samples {
  const bytes = readFileSync(join(samplesFolder, 'moby-dick.txt'))
  const windows = Math.floor((bytes.length - 1) / length)
  const trainSamples = Math.floor(windows * 0.95)
  const tensorOf = (rows: Uint32Array, shift: number) => {
    const data = new Int32Array(rows.length * length)
    rows.forEach((row, at) => {
      data.set(bytes.subarray(row * length + shift, (row + 1) * length + shift), at * length)
    })
    return Promise.resolve({ dtype: 'int32' as const, shape: [rows.length, length], data })
  }
  return {
    trainSamples,
    validationSamples: Math.min(256, windows - trainSamples),
    source: { inputs: ({ rows }) => tensorOf(rows, 0), labels: ({ rows }) => tensorOf(rows, 1) },
  }
}

export interface CodedRun {
  readonly graph: ModelGraph
  /** Where stages begin, without the 0. */
  readonly cuts: readonly number[]
  /** Of every border. */
  readonly codec: Codec
  readonly samples: Samples
  readonly microBatch: number
  readonly updates: number
  readonly warmupUpdates: number
  readonly clipNorm?: number
  readonly seed: number
}

/** Of a message, drawn anew each time. */
const delayMs = [0, 20] as const

async function stageOf(
  run: CodedRun,
  place: {
    stage: number
    ranges: readonly LayerRange[]
    engine: StageEngine
    clock: VirtualClock
    network: FakeNetwork
  },
): Promise<Stage> {
  const { graph, codec, samples, microBatch, seed, clipNorm } = run
  const { stage, ranges, engine, clock, network } = place
  const layers = ranges[stage] ?? [0, 0]
  const nameOf = (index: number) => `stage-${index}`
  await engine.load({
    ...{ graph, layers, seed, memoryBudgetBytes: 0 },
    optimizer: optimizer.parse({ type: 'adamw', learningRate: 0.003 }),
    learningRate: learningRateSchedule.parse({ type: 'constant', warmupUpdates: run.warmupUpdates }),
    ...(clipNorm === undefined ? {} : { clipNorm }),
  })
  await engine.writeState(initialState(graph, layers, seed))
  const links = network.linksOf(nameOf(stage))
  const made = createStage(
    { engine, links, clock, batches: samples.source, log: () => undefined },
    {
      ...{ job: '7'.repeat(64), planNumber: 1, graph, layers, microBatch },
      position: { cluster: 0, stage },
      stages: ranges.map((_, index) => nameOf(index)),
      accumulate: 2 * ranges.length,
      inFlight: ranges.length + 1,
      staleness: 'predict',
      codecs: { up: codec, down: codec },
      order: createBatchOrder({
        seed,
        trainSamples: samples.trainSamples,
        microBatch,
        share: { index: 0, of: 1 },
      }),
      trainSamples: samples.trainSamples,
      validationSamples: samples.validationSamples,
      targetUpdates: run.updates,
    },
  )
  links.onMessage(({ peer }, message) => {
    made.deliver(peer, message)
  })
  return made
}

/**
 * Mean validation loss after the run. The order of everything is that of the seed, whatever the codec.
 *
 * @param engines - one a stage at least; what they held is forgotten
 */
export async function lossAfter(engines: readonly StageEngine[], run: CodedRun): Promise<number> {
  const clock = createVirtualClock()
  const network = createFakeNetwork({ clock, seed: run.seed, delayMs })
  const borders = [0, ...run.cuts, run.graph.layers.length]
  const ranges = borders.slice(1).map((to, index): LayerRange => [borders[index] ?? 0, to])
  const stages: Stage[] = []
  for (const [stage, engine] of engines.slice(0, ranges.length).entries())
    stages.push(await stageOf(run, { stage, ranges, engine, clock, network }))
  const [root] = stages
  root?.start()
  await clock.runUntil(Promise.all(stages.map(({ finished }) => finished)))
  const judged = await clock.runUntil(root?.evaluate(run.samples.validationSamples) ?? Promise.reject(new TypeError('a run without stages'))) // prettier-ignore
  return judged.tally.lossSum / judged.tally.labels
}
