/** Stochastic gradient descent with momentum, as torch.optim.SGD (dampening 0). */
import type { Optimizer } from '../../../../../shared/job/recipe.ts'
import type { OptimizerRule, RuleSetting } from './rule.ts'

type SgdSettings = Extract<Optimizer, { type: 'sgd' }>

export function createSgd(settings: SgdSettings, { run, layout }: RuleSetting): OptimizerRule {
  const { momentum, nesterov, weightDecay } = settings
  const length = layout.trainedLength
  return {
    moments: momentum > 0 ? 1 : 0,
    step({ from, to, gradient, moments: [velocity = 0] }, { learningRate, scale }) {
      const rates = [scale, learningRate, momentum, weightDecay, nesterov ? 1 : 0] as const
      run('sgd', length, from, to, gradient, velocity, ...rates)
    },
    ahead({ from, to, moments: [velocity = 0] }, reach) {
      run('sgdAhead', length, from, velocity, reach, to)
    },
  }
}
