/** Dropout whose mask is a function of the micro-batch's seed and the layer's path. */
import { seedFrom } from '../../../../../shared/random.ts'
import type { Wire } from '../plan.ts'
import type { LayerPlanner } from './planner.ts'

export const dropout: LayerPlanner<'dropout'> = ({ rate }, x, { plan, path }) => {
  if (!plan.training || rate === 0) return { y: x, back: (dy) => dy }
  const drop = (length: number, bases: { dropoutSeed: number }, from: number, to: number) =>
    plan.run('dropout', length, seedFrom(bases.dropoutSeed, path), rate, 1 / (1 - rate), from, to)
  const y: Wire = x.free ? x : plan.keep(x.length)
  plan.forward.push((at, bases) => drop(x.length, bases, at(x), at(y)))
  return {
    y,
    back(dy, wanted) {
      if (!wanted) {
        plan.done(dy)
        return undefined
      }
      const dx = dy.free ? dy : plan.borrow(dy.length)
      plan.backward.push((at, bases) => drop(dy.length, bases, at(dy), at(dx)))
      return dx
    },
  }
}
