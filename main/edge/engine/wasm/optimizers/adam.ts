/** Adam and AdamW, as torch.optim.Adam and torch.optim.AdamW (no AMSGrad). */
import type { Optimizer } from '../../../../../shared/job/recipe.ts'
import type { Moved, OptimizerRule, RuleSetting, StepTime } from './rule.ts'

export type AdamSettings = Extract<Optimizer, { type: 'adam' | 'adamw' | 'lamb' }>

/** m and v after a gradient. @param coupled - weight decay that is added to the gradient */
export function rememberGradient(
  { run, layout }: RuleSetting,
  settings: AdamSettings,
  { from, gradient, moments: [first = 0, second = 0] }: Moved,
  { scale, coupled }: Pick<StepTime, 'scale'> & { readonly coupled: number },
): void {
  const { beta1, beta2 } = settings
  const mixing = [scale, coupled, beta1, 1 - beta1, beta2, 1 - beta2] as const
  run('adamMoments', layout.trainedLength, from, gradient, first, second, ...mixing)
}

/** The bias corrections and ε that a direction needs, in the kernel's order. */
export function corrections({ beta1, beta2, epsilon }: AdamSettings, update: number) {
  return [1 - beta1 ** update, Math.sqrt(1 - beta2 ** update), epsilon] as const
}

/** Adam: g ← g + λ·w first. AdamW: w ← w·(1 − rate·λ) first. Then w ← w − rate·m̂/(√v̂+ε). */
export function createAdam(settings: AdamSettings, setting: RuleSetting): OptimizerRule {
  const { weightDecay } = settings
  const decoupled = settings.type === 'adamw'
  const { run, layout } = setting
  return {
    moments: 2,
    step(moved, { learningRate, update, scale }) {
      rememberGradient(setting, settings, moved, { scale, coupled: decoupled ? 0 : weightDecay })
      const keep = decoupled ? 1 - learningRate * weightDecay : 1
      const [first = 0, second = 0] = moved.moments
      const way = [...corrections(settings, update), keep, -learningRate] as const
      run('adamStep', layout.trainedLength, moved.from, first, second, ...way, moved.to)
    },
    ahead({ from, to, moments: [first = 0, second = 0] }, reach, update) {
      const way = [...corrections(settings, update), 1, -reach] as const
      run('adamStep', layout.trainedLength, from, first, second, ...way, to)
    },
  }
}
