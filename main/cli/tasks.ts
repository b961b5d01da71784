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

/** What holds a plan back, and what would relieve it. */
export interface PlanBottleneck {
  readonly sentence: string
  readonly remedies: readonly Gain[]
}

interface Gain {
  readonly change: string
  readonly samplesPerSecond: number
  /** 0.5: half as much again. */
  readonly gain: number
}

export type PlanResult =
  | (Layout &
      Partial<PlanMoves> & {
        readonly feasible: true
        readonly planSeconds: Seconds
        readonly bottleneck: PlanBottleneck
      })
  | DoesNotFit

export interface PlanTask {
  readonly pool: Pool
  /** A preset's name or an absolute path of a graph file. Exactly one of the two is given. */
  readonly model?: string
  readonly profile?: ModelProfile
  readonly seed: number
  /** The clusters in force: keep what can stay. */
  readonly previous?: PreviousPlan['clusters']
}

export interface SimulateTask extends PlanTask {
  readonly minutes: number
  /** `none`, `lognormal:S` or `normal:S`. */
  readonly stragglers: string
  /** Share of the pieces of messages that get lost on the way. */
  readonly loss: number
  /** Mean minutes until a PC is lost, and until it is back; absent: nobody goes. */
  readonly churn?: { readonly meanMinutes: number; readonly backMinutes: number }
  /** Make a timeline, too. */
  readonly trace: boolean
}

/** What a command shows of a simulation; the whole of it goes into the result line. */
export interface SimulationReport {
  readonly feasible: true
  readonly participants: number
  readonly clusters: number
  readonly simulatedSeconds: Seconds
  readonly samplesPerSecond: number
  readonly modelledSamplesPerSecond: number
  readonly lostSamples: number
  readonly losses: number
  readonly plans: number
  readonly stages: readonly {
    readonly cluster: number
    readonly peer: string
    readonly layers: readonly [number, number]
    readonly busyShare: number
    readonly uploadShare: number
    readonly downloadShare: number
  }[]
  readonly staleness: readonly number[]
  readonly bytesSent: {
    readonly activations: Bytes
    readonly gradients: Bytes
    readonly parameters: Bytes
  }
  readonly whySlow: { readonly sentence: string }
  readonly remedies: readonly Gain[]
}

export interface Simulated {
  readonly report: SimulationReport | DoesNotFit
  /** For chrome://tracing; `complete` is false where it ends before the simulation did. */
  readonly trace: { readonly traceEvents: readonly object[]; readonly complete: boolean } | undefined
}

export interface DeviceBench {
  readonly cpuModel: string
  readonly cores: number
  readonly totalMemoryBytes: Bytes
  readonly availableMemoryBytes: Bytes
  readonly platform: string
  /** What a job would run on. */
  readonly backend: string
  /** That compute, where our own kernels are used. */
  readonly threads?: number
  /** Measured on a real stage step, forward and backward. */
  readonly flopsPerSecond: FlopsPerSecond
  /** Every backend there could be: loaded, or why not; its speed where it computes rightly; whether `auto` takes it. */
  readonly backends: readonly {
    readonly name: string
    readonly loaded: boolean
    readonly reason: string
    readonly flopsPerSecond?: FlopsPerSecond
    readonly chosen?: boolean
  }[]
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
  /** @throws InvalidInputError for a model that is no model, or chances that are none */
  simulateTask(task: SimulateTask): Promise<Simulated>
  /** @param task.threads - 0: all cores but one; absent: as the settings in `home` say */
  benchDeviceTask(task: {
    readonly home: string
    readonly backend?: string
    readonly threads?: number
  }): Promise<DeviceBench>
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
    readonly backend?: string | undefined
  }): Promise<readonly Bytes[]>
}
