import { describe, expect, it } from 'vitest'
import { chaosResult, timelineText } from '../../../main/cli/chaos/outcome.ts'
import { Pulse } from '../../../main/cli/chaos/pulse.ts'
import { ChaosRecord } from '../../../main/cli/chaos/record.ts'
import type { FaultKind } from '../../../main/cli/chaos/schedule.ts'
import { second } from '../../../shared/units.ts'

const record = new ChaosRecord()
const pulse = new Pulse(0)
const hit = (kind: FaultKind, peer: string, at: number) =>
  record.hit({ kind, peer, atMs: at * second, lastsMs: 0 }, at * second)
const trains = (at: number, samples: number): void => {
  const stall = pulse.see('peer-1', samples, at * second)
  if (stall !== undefined) record.note(stall)
}

record.hostSays('training', 0)
trains(1, 10)
const paused = hit('pause', 'peer-2', 1.5)
Object.assign(paused, { overMs: 3 * second, pausedSeconds: 0.6, resumedSeconds: 1.2 })
trains(3, 20)
const killed = hit('kill', 'peer-3', 3.5)
record.hostSays('paused: waiting for peer-3 to come back', 4 * second)
killed.overMs = 8 * second
record.hostSays('training', 9 * second)
trains(9, 30)
trains(68, 40)
const left = hit('leave', 'peer-4', 69)
left.failed = 'peer-4 does not run'
trains(75, 50)
pulse.end(75 * second)
const seen = { record, pulse }

describe('what a chaos run found out', () => {
  it('is counted in the result line', () => {
    const samples = { trained: 50, lost: 4, doubled: 0 }
    expect(chaosResult({ seen, samples, loss: 0.25, undisturbedLoss: 0.24 })).toEqual({
      event: 'result',
      faults: { kill: 1, pause: 1, leave: 1 },
      samples,
      longestStallSeconds: 59,
      recoverySeconds: { median: 33, max: 60, faults: 2 },
      pauses: { pausedSeconds: 0.6, resumedSeconds: 1.2 },
      loss: 0.25,
      undisturbedLoss: 0.24,
    })
  })

  it('is told as a line a fault, and says what the longest stall was about', () => {
    expect(timelineText(seen).split('\n')).toEqual([
      'What happened, and what it did to the training:',
      '  0:02  pause  peer-2   until 0:03  trained on; paused after 0.6 s; back after 1.2 s',
      '  0:04  kill   peer-3   until 0:08  stopped 6.0 s at 0:03; stopped 59.0 s at 0:09',
      '  1:09  leave  peer-4               stopped 7.0 s at 1:08; failed: peer-4 does not run',
      '',
      'The longest time without training: 59.0 s from 0:09, after the kill of peer-3.',
      'The host showed meanwhile:',
      '  59.0 s  training',
    ])
  })
})
