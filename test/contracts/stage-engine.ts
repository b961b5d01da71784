/** What every implementation of `StageEngine` must do; each is run through the same sentences. */
import { afterAll, beforeAll, describe } from 'vitest'
import type { StageEngine } from '../../main/core/ports.ts'
import { codecSentences } from './stage-engine-codecs.ts'
import { gradientSentences } from './stage-engine-gradients.ts'
import type { Engines } from './stage-engine-models.ts'
import { memorySentences } from './stage-engine-memory.ts'
import { pipelineSentences } from './stage-engine-pipeline.ts'
import { stateSentences } from './stage-engine-state.ts'
import { updateSentences } from './stage-engine-updates.ts'

/** An implementation under test. */
export interface EngineUnderTest {
  readonly name: string
  open(): Promise<StageEngine>
  close(engine: StageEngine): Promise<void>
  /** Make TensorFlow.js ready in this thread, for the oracle. */
  prepareOracle(): Promise<unknown>
}

export function stageEngineContract(under: EngineUnderTest): void {
  describe(`a stage engine (${under.name})`, () => {
    let opened: readonly [StageEngine, StageEngine, StageEngine]
    const engines: Engines = () => opened
    beforeAll(async () => {
      opened = await Promise.all([under.open(), under.open(), under.open()])
      await under.prepareOracle()
    })
    afterAll(() => Promise.all(opened.map((engine) => under.close(engine))))
    pipelineSentences(engines)
    codecSentences(engines)
    gradientSentences(engines)
    updateSentences(engines)
    stateSentences(engines)
    memorySentences(engines)
  })
}
