/** The rule of the optimizer that a recipe names. */
import type { Optimizer } from '../../../../../shared/job/recipe.ts'
import { createAdam } from './adam.ts'
import { createLamb } from './lamb.ts'
import type { OptimizerRule, RuleSetting } from './rule.ts'
import { createSgd } from './sgd.ts'

/** @param spare - address of as many floats as the largest parameter has; used by LAMB alone */
export function createOptimizer(optimizer: Optimizer, setting: RuleSetting, spare: number): OptimizerRule {
  switch (optimizer.type) {
    case 'sgd':
      return createSgd(optimizer, setting)
    case 'adam':
    case 'adamw':
      return createAdam(optimizer, setting)
    case 'lamb':
      return createLamb(optimizer, setting, spare)
  }
}
