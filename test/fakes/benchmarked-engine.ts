/** The fake engine has no convolutions: of the benchmark's stage this one's calls only take their time. */
import type { StageEngine } from '../../main/core/ports.ts'

/** @param rest - as long as a call takes */
export function benchmarked(engine: StageEngine, rest: () => Promise<void>): StageEngine {
  let isBenchmark = false
  const tally = { lossSum: 1, labels: 1, correct: 0, correctTop5: 0 }
  const usual = {
    load: engine.load.bind(engine),
    unload: engine.unload.bind(engine),
    writeState: engine.writeState.bind(engine),
    forwardLoss: engine.forwardLoss.bind(engine),
    update: engine.update.bind(engine),
  }
  return Object.assign(engine, {
    load(...[setup]: Parameters<StageEngine['load']>) {
      isBenchmark = setup.graph.name === 'benchmark'
      return isBenchmark ? rest() : usual.load(setup)
    },
    unload() {
      if (!isBenchmark) return usual.unload()
      isBenchmark = false
      return rest()
    },
    writeState: (...[state]: Parameters<StageEngine['writeState']>) =>
      isBenchmark ? rest() : usual.writeState(state),
    async forwardLoss(...[request]: Parameters<StageEngine['forwardLoss']>) {
      if (!isBenchmark) return usual.forwardLoss(request)
      await rest()
      return { tally, inputGradient: undefined }
    },
    async update() {
      if (!isBenchmark) return usual.update()
      await rest()
      return { applied: true, gradientNorm: 1 }
    },
  })
}
