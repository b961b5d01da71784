/** The rule of the optimizer that a recipe names. */
import type { Optimizer } from '../../../../../shared/job/recipe.ts'
import { createAdam } from './adam.ts'
import { createLamb } from './lamb.ts'
import type { OptimizerRule } from './rule.ts'
import { createSgd } from './sgd.ts'

export function createOptimizer(optimizer: Optimizer): OptimizerRule {
  switch (optimizer.type) {
    case 'sgd':
      return createSgd(optimizer)
    case 'adam':
    case 'adamw':
      return createAdam(optimizer)
    case 'lamb':
      return createLamb(optimizer)
  }
}
