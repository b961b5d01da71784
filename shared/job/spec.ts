/** A job as its host launches it (JOB.json), and as members receive it. */
import { z } from 'zod'
import { modelGraph } from '../model/graph.ts'
import { dataManifest, dataSource } from './data.ts'
import { recipe } from './recipe.ts'

const seed = z.int().min(0).max(4_294_967_295)

/** When training ends. */
const target = z.strictObject({
  /** Updates that every cluster makes. */
  updates: z.int().min(1).max(1_000_000_000),
})

const validation = z
  .strictObject({
    /** Share of the samples that is held out. */
    share: z.number().min(0).max(0.9).default(0.1),
    /** Updates between two validations; absent: only at the end. */
    everyUpdates: z.int().min(1).optional(),
    /** At most so many samples in a validation that is not the last. */
    samples: z.int().min(1).default(1024),
  })
  .prefault({})

/** Whom the host waits for before it plans. */
const gathering = z
  .strictObject({
    /** Start as soon as so many peers, the host included, are there; absent: wait for `start` or the deadline. */
    peers: z.int().min(1).max(10_000).optional(),
    deadlineSeconds: z.number().positive().max(604_800).default(600),
    /** Exactly so many clusters; absent: the planner chooses. */
    clusters: z.int().min(1).max(1000).optional(),
    /** The invite stops working after so long. */
    inviteHours: z.number().positive().max(8760).default(24),
  })
  .prefault({})

/** JOB.json: what a host writes. */
export const jobFile = z.strictObject({
  name: z.string().min(1).max(80),
  /** A preset's name, the path of a graph file, or the graph itself. */
  model: z.union([z.string().min(1), modelGraph]),
  data: dataSource,
  recipe: recipe.prefault({}),
  target,
  validation,
  gathering,
  seed: seed.default(0),
  /** Start from the weights of this finished model instead of the seed's. */
  continueFrom: z.string().min(1).optional(),
})
export type JobFile = z.infer<typeof jobFile>

/** The job on the wire: no paths, every choice made. */
export const jobSpec = z.strictObject({
  name: z.string().min(1).max(80),
  graph: modelGraph,
  data: dataManifest,
  recipe,
  target,
  validation,
  seed,
})
export type JobSpec = z.infer<typeof jobSpec>
