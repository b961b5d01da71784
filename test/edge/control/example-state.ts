/** What an agent without limits, work and job shows, and how it answers every command: not at all. */
import { InvalidInputError } from '../../../shared/errors.ts'
import { type CommandName, commands, type Snapshot } from '../../../shared/messages/control.ts'
import type { CommandHandlers } from '../../../main/edge/control/face-lines.ts'

const nothing = { samples: 0, trainedSeconds: 0, sentBytes: 0, receivedBytes: 0 }

/** The part of a snapshot that says what this PC lends. */
export const nothingLent: Pick<
  Snapshot,
  'limits' | 'pausedByUser' | 'pauseAfterRound' | 'contribution' | 'use'
> = {
  limits: [],
  pausedByUser: null,
  pauseAfterRound: null,
  contribution: { today: nothing, total: nothing },
  use: { cpuShare: 0, memoryBytes: 0, uploadBytesPerSecond: 0, downloadBytesPerSecond: 0 },
}

const refuse = (): Promise<never> => Promise.reject(new InvalidInputError('there is no job'))

/** Every command, refused: a test overrides the ones it is about. */
export const refusals = Object.fromEntries(
  (Object.keys(commands) as CommandName[]).map((name) => [name, refuse]),
) as unknown as CommandHandlers
