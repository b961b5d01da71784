/** What faults do to what is learned: the loss after a disturbed run, beside that of an undisturbed run of as many samples. */
import { describe, expect, it } from 'vitest'
import { second } from '../../shared/units.ts'
import type { JobSpec } from '../../shared/job/spec.ts'
import { type Scenario, smallJob, startScenario } from './pool.ts'

const half = 52_500
const updates = 240

/** Without what is not linear the loss has one lowest value, and where the training comes to rest does not depend on its way. */
function linearJob(): JobSpec {
  const spec = smallJob({ updates, everyUpdates: 80 })
  const { graph, recipe } = spec
  return {
    ...spec,
    graph: { ...graph, layers: graph.layers.filter(({ type }) => type !== 'relu') },
    recipe: { ...recipe, optimizer: { ...recipe.optimizer, learningRate: 0.02 } },
  }
}

const settings = (seed: number) => ({
  ...{ memories: [half, half, half, half], clusters: 2, seed },
  ...{ flopsPerSecond: 1e6, engineMs: [10, 30] as const, spec: linearJob() },
})

async function finalLoss(scenario: Scenario): Promise<{ loss: number; samples: number }> {
  const { validation, samples } = await scenario.end(scenario.host)
  return { loss: validation!.loss, samples }
}

/** One PC vanishes and comes back, one freezes, one pauses: each while the others train. */
async function disturb(scenario: Scenario): Promise<void> {
  const { clock, network } = scenario
  await scenario.until((view) => view.updates >= 20)
  await scenario.lose('pc-1')
  await clock.advance(6 * second)
  await scenario.comeBack('pc-1', half)
  await scenario.until((view) => view.updates >= 60 && view.phase === 'training')
  network.hinder('pc-2', { frozenUntilMs: clock.now() + 5 * second })
  await clock.advance(8 * second)
  const pausing = scenario.members.find(({ name }) => name === 'pc-3')!.participation
  pausing.pause()
  await clock.advance(5 * second)
  pausing.resume()
}

describe('a pool that is disturbed', () => {
  it('learns what it would have learned in peace: the mean loss of three runs is within 2 % of that of three undisturbed', async () => {
    const found = { disturbed: 0, peaceful: 0 }
    for (const seed of [1, 2, 3]) {
      const scenario = await startScenario(settings(seed))
      await disturb(scenario)
      const disturbed = await finalLoss(scenario)
      const peaceful = await finalLoss(await startScenario(settings(seed)))
      console.log(disturbed, peaceful)
      found.disturbed += disturbed.loss
      found.peaceful += peaceful.loss
    }
    expect(Math.abs(found.disturbed / found.peaceful - 1)).toBeLessThan(0.02)
  })
})
