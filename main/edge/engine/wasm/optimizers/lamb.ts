/** LAMB: Adam's direction with decoupled decay, scaled for each parameter to the length of its weights. */
import { bytesPerFloat } from '../../../../../shared/units.ts'
import { type AdamSettings, corrections, rememberGradient } from './adam.ts'
import type { Moved, OptimizerRule, RuleSetting } from './rule.ts'

/**
 * r = m̂/(√v̂+ε) + λ·w; w ← w − rate·(‖w‖/‖r‖)·r. With bias correction and φ the identity, as in the paper's
 * algorithm 2; every parameter tensor is one "layer" of the paper. The ratio is 1 where a norm is 0.
 *
 * A parameter's r is computed twice, once for its norm: in the place of the next weights, so that nothing is allocated
 * when those lie beside the old; else the way back is w ← w − …, computed from w and the moments again.
 * @see You et al. 2020, "Large batch optimization for deep learning: training BERT in 76 minutes"
 */
export function createLamb(settings: AdamSettings, setting: RuleSetting, spare: number): OptimizerRule {
  const { run, layout } = setting
  const { weightDecay } = settings
  /** w − reach·ratio·(direction + decay·w) for every parameter; the ratio always judges with decay. */
  const walk = (moved: Omit<Moved, 'gradient'>, update: number, { reach, decay }: Walk) => {
    const fixed = corrections(settings, update)
    for (const { offset, length } of layout.trained) {
      const own = (address = 0) => address + offset * bytesPerFloat
      const [w, m, v] = [own(moved.from), own(moved.moments[0]), own(moved.moments[1])]
      run('adamStep', length, w, m, v, ...fixed, weightDecay, 1, spare) // r
      const [weightNorm, wayNorm] = [
        Math.sqrt(run('squares', length, w)),
        Math.sqrt(run('squares', length, spare)),
      ]
      const ratio = weightNorm > 0 && wayNorm > 0 ? weightNorm / wayNorm : 1
      const step = reach * ratio
      run('adamStep', length, w, m, v, ...fixed, 1 - step * decay, -step, own(moved.to))
    }
  }
  return {
    moments: 2,
    step(moved, { learningRate, update, scale }) {
      rememberGradient(setting, settings, moved, { scale, coupled: 0 })
      walk(moved, update, { reach: learningRate, decay: weightDecay })
    },
    /** The trust ratio is the update's own, decay included; the decay's pull itself is left out. */
    ahead(moved, reach, update) {
      walk(moved, update, { reach, decay: 0 })
    },
  }
}

interface Walk {
  readonly reach: number
  readonly decay: number
}
