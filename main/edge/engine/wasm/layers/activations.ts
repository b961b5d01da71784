/** Activations, element by element: [B, ...] → [B, ...]. */
import type { KernelName } from '../kernels.ts'
import type { Plan, Wire } from '../plan.ts'
import type { LayerPlanner, Planned } from './planner.ts'

/** Where a result of x's size goes: into x itself where nobody else reads it. */
const inPlaceOf = (plan: Plan, x: Wire): Wire => (x.free ? x : plan.keep(x.length))

/** Its gradient looks at y, so y stays. */
export const relu: LayerPlanner<'relu'> = (_layer, x, { plan }) => {
  const y: Wire = { ...inPlaceOf(plan, x), free: false }
  plan.forward.push((at) => plan.run('relu', x.length, at(x), at(y)))
  return {
    y,
    back(dy, wanted) {
      if (!wanted) {
        plan.done(dy)
        return undefined
      }
      const dx = dy.free ? dy : plan.borrow(dy.length)
      plan.backward.push((at) => plan.run('reluBack', dy.length, at(y), at(dy), at(dx)))
      return dx
    },
  }
}

/** Their gradients look at x, so x stays. */
function curve(plan: Plan, x: Wire, [forth, back]: readonly [KernelName, KernelName]): Planned {
  const y = plan.keep(x.length)
  plan.forward.push((at) => plan.run(forth, x.length, at(x), at(y)))
  return {
    y,
    back(dy, wanted) {
      if (!wanted) {
        plan.done(dy)
        return undefined
      }
      const dx = dy.free ? dy : plan.borrow(dy.length)
      plan.backward.push((at) => plan.run(back, dy.length, at(x), at(dy), at(dx)))
      return dx
    },
  }
}

export const gelu: LayerPlanner<'gelu'> = (_layer, x, { plan }) => curve(plan, x, ['gelu', 'geluBack'])
export const silu: LayerPlanner<'silu'> = (_layer, x, { plan }) => curve(plan, x, ['silu', 'siluBack'])
