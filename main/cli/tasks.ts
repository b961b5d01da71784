/** Work that needs no job and no network, done in this process by the agent's code. Loaded only when asked for. */
import type { DataSource } from '../../shared/job/data.ts'
import type { Scores } from '../../shared/model/graph.ts'
import type { DoesNotFit, Layout, PreviousPlan } from '../../shared/plan/plan.ts'
import type { ModelProfile, Pool } from '../../shared/plan/pool.ts'
import type { Bytes, FlopsPerSecond, Seconds } from '../../shared/units.ts'

/** Beside a plan made with one in force: what has to travel. */
export interface PlanMoves {
  readonly movedBytes: Bytes
  /** If everyone fetched its whole stage. */
  readonly fullMoveBytes: Bytes
  /** What a plan made anew would reach. */
  readonly bestSamplesPerSecond: number
}

export type PlanResult =
  (Layout & Partial<PlanMoves> & { readonly feasible: true; readonly planSeconds: Seconds }) | DoesNotFit

export interface PlanTask {
  readonly pool: Pool
  /** A preset's name or an absolute path of a graph file. Exactly one of the two is given. */
  readonly model?: string
  readonly profile?: ModelProfile
  readonly seed: number
  /** The clusters in force: keep what can stay. */
  readonly previous?: PreviousPlan['clusters']
}

interface DeviceBench {
  readonly cpuModel: string
  readonly cores: number
  readonly totalMemoryBytes: Bytes
  readonly availableMemoryBytes: Bytes
  readonly platform: string
  /** What a job would run on. */
  readonly backend: string
  /** Measured on a real stage step, forward and backward. */
  readonly flopsPerSecond: FlopsPerSecond
  /** Every backend there could be: loaded, or why not. */
  readonly backends: readonly { readonly name: string; readonly loaded: boolean; readonly reason: string }[]
}

interface Evaluation {
  readonly samples: number
  readonly scores: Scores
}

export interface Prediction {
  /** Its file's name, or its row counted from 0. */
  readonly sample: string
  /** Classes or tokens, the most probable first. Absent for regression. */
  readonly best?: readonly { readonly label: string; readonly probability: number }[]
  /** The output of a regression. */
  readonly values?: readonly number[]
  /** Of a text model: what it writes after the prompt. */
  readonly continuation?: string
}

export interface Tasks {
  /** @throws InvalidInputError for a model that is no model */
  planTask(task: PlanTask): Promise<PlanResult>
  benchDeviceTask(task: { readonly backend?: string }): Promise<DeviceBench>
  /** @param task.data - an absolute path of data of the kind the model was trained on, or a source to read */
  evaluateTask(task: {
    readonly modelDirectory: string
    readonly data: DataSource | string
  }): Promise<Evaluation>
  /** @param task.input - a path, or for a text model a prompt */
  predictTask(task: {
    readonly modelDirectory: string
    readonly input: string
  }): Promise<readonly Prediction[]>
  /**
   * Memory budgets, a peer of the demo each, cluster after cluster, so small that the planner cannot but
   * build clusters of exactly these many stages.
   */
  demoBudgetsTask(task: {
    readonly model: string
    readonly shape: readonly number[]
    readonly microBatch?: number
  }): Promise<readonly Bytes[]>
}
