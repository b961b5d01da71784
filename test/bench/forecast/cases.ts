/** Pools whose lines decide how fast they train. */
import { modelGraph, type ModelGraph } from '../../../shared/model/graph.ts'
import type { Line, Place } from './network.ts'

export interface ForecastCase {
  readonly name: string
  /** One PC each; the first hosts. */
  readonly places: readonly (Place & { readonly computeShare?: number })[]
  /** Lines of the homes to each other. */
  readonly homes: readonly Line[]
  readonly graph: ModelGraph
  /** Of the memory that the whole model takes: nobody can hold all of it. */
  readonly memoryShare: number
  readonly averageEveryUpdates: number
  readonly updates: number
}

/** Side of the images. */
export const side = 32

/** Small convolutions, whose borders are wide for what they compute: 4 kB a filter and sample. */
const graphOf = (name: string, filters: number, head: readonly Readonly<Record<string, unknown>>[]) =>
  modelGraph.parse({
    ...{ format: 'rookery-model/1', name, task: 'classify', loss: { type: 'cross-entropy' } },
    input: { type: 'values', shape: [side, side, 1] },
    layers: [
      { type: 'conv2d', name: 'first', filters, kernel: 3 }, // [32, 32, F]
      ...Array.from({ length: 5 }, (_, index) => [
        { type: 'relu', name: `relu-${index}` },
        { type: 'conv2d', name: `conv-${index}`, filters, kernel: 1 },
      ]).flat(),
      { type: 'flatten', name: 'flatten' }, // [1024 F]
      ...head,
      { type: 'dense', name: 'head', units: 10 },
    ],
  })

/** At 20 Mbit/s a micro-batch of 16 takes 0.4 s over any of them, and a stage some hundredths of a second to compute. */
const wideBorders = graphOf('wide-borders', 16, [])
/**
 * And 4 MB to average, most of them in one layer. What goes over a LAN here, this machine's processors carry for all PCs
 * at once, so it is less: the line between the homes is to decide.
 */
const manyParameters = graphOf('many-parameters', 4, [{ type: 'dense', name: 'wide', units: 256 }])

export const microBatch = 16

const at = (up: number, down: number) => ({ home: 0, up, down })
const oneStreet = { homes: [{}], graph: wideBorders, memoryShare: 0.75, averageEveryUpdates: 5 }

export const cases: readonly ForecastCase[] = [
  {
    ...oneStreet,
    name: '20 and 100 Mbit/s up',
    places: [at(20, 100), at(20, 100), at(100, 100), at(100, 100)],
    updates: 25,
  },
  {
    name: 'two homes, each a LAN',
    places: [0, 0, 1, 1].map((home) => ({ home })),
    homes: [
      { up: 20, down: 100 },
      { up: 20, down: 100 },
    ],
    graph: manyParameters,
    memoryShare: 0.75,
    averageEveryUpdates: 2,
    updates: 40,
  },
  {
    ...oneStreet,
    name: 'one slow PC',
    // All three are needed.
    memoryShare: 0.45,
    places: [at(50, 100), at(50, 100), { ...at(50, 100), computeShare: 0.25 }],
    updates: 30,
  },
  {
    ...oneStreet,
    name: 'one slow uplink',
    memoryShare: 0.45,
    places: [at(100, 100), at(100, 100), at(10, 100)],
    updates: 12,
  },
]

/** Pools of the demo: all agents are on this machine. */
export interface DemoCase {
  readonly name: string
  readonly model: string
  readonly updates: number
}

export const demos: readonly DemoCase[] = [
  { name: 'digits demo', model: 'digits-cnn', updates: 200 },
  { name: 'text demo', model: 'gpt-mini', updates: 40 },
]
