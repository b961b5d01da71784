/** Dense layers. D width in, U units out, N = all axes but the last. */
import type { Place, Plan, Wire } from '../plan.ts'
import type { LayerPlanner, Planned } from './planner.ts'

/** A matrix and its shift, with the places of their gradients. */
export interface Projection {
  readonly weight: Place
  readonly weightGradient: Place
  readonly bias?: { readonly shift: Place; readonly gradient: Place }
  /** D and U. */
  readonly width: number
  readonly units: number
}

/** y = x·W + b: [N, D] → [N, U] */
export function project(plan: Plan, x: Wire, projection: Projection): Planned {
  const { weight, bias, width, units } = projection
  const rows = x.length / width
  const y = plan.keep(rows * units)
  plan.forward.push((at) => {
    const start = bias ? at(bias.shift) : 0
    multiply(plan, [rows, width, units], [at(weight), units, 1], [at(x), at(y), start])
  })
  return { y, back: (dy, wanted) => projectBack({ plan, x, ...projection }, dy, wanted) }
}

/** Columns of a product from which threads share them, and not its rows. */
const manyColumns = 64

/** c[M, N] = start[N] + a[M, K] · b[K, N], whose rows and columns lie so many floats apart. */
function multiply(
  plan: Plan,
  [m, k, n]: readonly [m: number, k: number, n: number],
  [b, rowStep, columnStep]: readonly [b: number, rowStep: number, columnStep: number],
  [a, c, start]: readonly [a: number, c: number, start: number],
): void {
  const places = [a, k, b, rowStep, columnStep, c, n, start, 0] as const
  if (n < manyColumns) plan.run('multiply', m, k, n, ...places)
  else plan.run('multiplyColumns', n, m, k, ...places)
}

/** dW += xᵀ·dy, db += Σ dy, dx = dy·Wᵀ */
function projectBack(of: Projection & { plan: Plan; x: Wire }, dy: Wire, wanted: boolean): Wire | undefined {
  const { plan, x, weight, weightGradient, bias, width, units } = of
  const rows = x.length / width
  const dx = wanted ? plan.borrow(rows * width) : undefined
  plan.backward.push((at) => {
    plan.run('multiplyTransposed', width, rows, units, at(x), width, at(dy), units, at(weightGradient), units, 1) // prettier-ignore
    if (bias) plan.run('columnSums', units, rows, units, at(dy), at(bias.gradient))
    if (dx) multiply(plan, [rows, units, width], [at(weight), 1, units], [at(dy), at(dx), 0])
  })
  plan.done(dy)
  return dx
}

export const dense: LayerPlanner<'dense'> = (layer, x, { plan, inputShape, parameter, gradient }) =>
  project(plan, x, {
    weight: parameter('weight'),
    weightGradient: gradient('weight'),
    ...(layer.bias && { bias: { shift: parameter('bias'), gradient: gradient('bias') } }),
    width: inputShape.at(-1) ?? 1,
    units: layer.units,
  })

/** The same numbers: [...] → [product] */
export const flatten: LayerPlanner<'flatten'> = (_layer, x) => ({ y: x, back: (dy) => dy })
