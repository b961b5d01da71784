/** An engine that takes its time and gives zeros: a stage whose processor is busy exactly so long. */
import type { Clock, StageEngine } from '../../main/core/ports.ts'
import type { Millis } from '../../shared/units.ts'
import { floatTensor } from '../../shared/tensor.ts'

export interface WaitingStage {
  /** B. */
  readonly samples: number
  /** Elements of a sample that go in and come out; no input gradient at the root. */
  readonly inputWidth: number | undefined
  readonly outputWidth: number
  /** Of a micro-batch, a third of it forward; at the leaf all of it at once. */
  readonly computeMs: Millis
}

export function createWaitingEngine(clock: Clock, stage: WaitingStage): StageEngine {
  const { samples, inputWidth, outputWidth, computeMs } = stage
  const zeros = (width: number) => floatTensor(new Float32Array(samples * width), [samples, width])
  const tally = { lossSum: 0, labels: samples, correct: 0, correctTop5: 0 }
  const inputGradient = () => (inputWidth === undefined ? undefined : zeros(inputWidth))
  const calls: Partial<StageEngine> = {
    async forward() {
      await clock.sleep(computeMs / 3)
      return zeros(outputWidth)
    },
    async backward() {
      await clock.sleep((2 * computeMs) / 3)
      return inputGradient()
    },
    async forwardLoss() {
      await clock.sleep(computeMs)
      return { tally, inputGradient: inputGradient() }
    },
    update: () => Promise.resolve({ applied: true, gradientNorm: 0 }),
    discard: () => Promise.resolve(),
  }
  return calls as StageEngine
}
