import { describe, expect, it } from 'vitest'
import { checksOf } from '../../../../renderer/window/words/checks.ts'
import { desktopRunning } from '../../fixtures/answers.ts'
import { training } from '../../fixtures/snapshots.ts'

const engine = (backend: string) =>
  checksOf({ ...training, backend }, desktopRunning)
    .filter(({ name }) => /engine/i.test(name))
    .map(({ level, finding }) => `${level}: ${finding}`)[0]

describe('the engine in words', () => {
  it.each([
    ['auto', 'ok: The fastest that works on this PC is chosen when a job starts.'],
    ['wasm', 'ok: Will train with WebAssembly on the processor.'],
    ['tfjs-wasm', 'ok: Trains with WebAssembly on the processor.'],
    ['tfjs-node-gpu', 'ok: Trains with TensorFlow on the graphics chip.'],
    ['tfjs-other', 'ok: The fastest that works on this PC is chosen when a job starts.'],
  ])('of %s', (backend, finding) => {
    expect(engine(backend)).toBe(finding)
  })

  it('is a warning where it is the slow one, before a job and in one', () => {
    expect(['cpu', 'tfjs-cpu'].map(engine)).toEqual([
      expect.stringMatching(/^warn: Training runs on the plain reference engine/),
      expect.stringMatching(/^warn: Training runs on the plain reference engine/),
    ])
  })
})
