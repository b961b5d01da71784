/** One stage at work: its pipeline and its rings, as one thing that starts, holds, changes rings and ends. */
import type { PeerId } from '../../../../shared/ids.ts'
import type { Progress, WireMessage } from '../../../../shared/messages/wire.ts'
import type { Tally } from '../../../../shared/model/graph.ts'
import type { Plan, StagePosition } from '../../../../shared/plan/plan.ts'
import type { BatchSource } from '../../ports.ts'
import type { Assignment, MemberPorts } from './member-ports.ts'

export interface StageRunHooks {
  readonly onChange: () => void
  readonly onTally: (tally: Tally) => void
}

export interface StageRunSetup {
  readonly assignment: Assignment
  readonly position: StagePosition
  readonly batches: BatchSource
  readonly hooks: StageRunHooks
}

export interface StageRun {
  start(): void
  deliver(from: PeerId, message: WireMessage): void
  validate(samples: number): Promise<{ readonly tally: Tally; readonly updates: number }>
  hold(): Promise<void>
  proceed(): void
  finish(): void
  replan(plan: Plan): void
  readonly finished: Promise<{ readonly updates: number; readonly samples: number }>
  stop(reason: string): void
  readonly stats: StageStats
}

/** Counters of a stage and its rings since the start. */
export type StageStats = Pick<
  Progress,
  'updates' | 'samples' | 'busyMs' | 'dropped' | 'maxStaleness' | 'rounds' | 'waitingFor'
>

export declare function createStageRun(ports: MemberPorts, setup: StageRunSetup): StageRun
