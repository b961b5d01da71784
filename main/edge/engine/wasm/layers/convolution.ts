/** 2-D convolution, plain, grouped or depthwise. B samples, H×W pixels, C channels, U×V outputs, F filters, G groups. */
import { bytesPerFloat } from '../../../../../shared/units.ts'
import type { Plan, Wire } from '../plan.ts'
import { type Geometry, forwardPlan, inputPlans, zeroFloats } from './convolution-geometry.ts'
import type { LayerPlanner, LayerSite } from './planner.ts'
import { three } from './pooling.ts'
import { paddingBefore } from './windows.ts'

export const conv2d: LayerPlanner<'conv2d'> = (layer, x, site) => {
  const { plan } = site
  const geometry = geometryOf(layer, site)
  const { rows, columns, filters, depth, groups } = geometry
  const weight = site.parameter('weight')
  const bias = layer.bias ? site.parameter('bias') : undefined
  const zeros = plan.describe(Array.from({ length: zeroFloats }, () => 0))
  const described = plan.describe(forwardPlan(geometry, zeros))
  const outputs = plan.batch * rows * columns
  const y = plan.keep(outputs * filters)
  plan.forward.push((at) => {
    for (let group = 0; group < groups; group++) {
      const own = group * (filters / groups) * bytesPerFloat
      const source = at(x) + group * depth * bytesPerFloat
      const places = [source, at(weight) + own, at(y) + own, bias ? at(bias) + own : 0] as const
      convolve(plan, described, [outputs, filters / groups], places)
    }
  })
  return {
    y,
    back(dy, wanted) {
      weightsBack({ plan, geometry, described, x }, dy, site)
      if (layer.bias) {
        const dBias = site.gradient('bias')
        plan.backward.push((at) => plan.run('columnSums', filters, outputs, filters, at(dy), at(dBias)))
      }
      const dx = wanted ? inputBack({ plan, geometry, zeros }, dy, site) : undefined
      plan.done(dy)
      return dx
    },
  }
}

/** From more outputs for each filter on, threads share the outputs. */
const outputsPerFilter = 4

/** Source, weights, out and bias, as the kernel takes them. Few outputs: threads share the filters, and each packs its own. */
function convolve(
  plan: Plan,
  described: number,
  [outputs, filters]: readonly [outputs: number, filters: number],
  places: readonly [source: number, weights: number, out: number, bias: number],
): void {
  if (outputs > outputsPerFilter * filters) plan.run('convolve', outputs, described, ...places)
  else plan.run('convolveFilters', filters, described, outputs, ...places)
}

function geometryOf(layer: Parameters<typeof conv2d>[0], site: LayerSite): Geometry {
  const [height, width, channels] = three(site.inputShape)
  const [rows, columns, filters] = three(site.outputShape)
  const { kernel, stride, groups } = layer
  const window = { size: kernel, stride, padding: layer.padding }
  return {
    ...{ height, width, channels, rows, columns, filters, kernel, stride, groups },
    depth: channels / groups,
    top: paddingBefore(height, rows, window),
    left: paddingBefore(width, columns, window),
  }
}

/** dW += Σ source·dy */
function weightsBack(
  of: { plan: Plan; geometry: Geometry; described: number; x: Wire },
  dy: Wire,
  site: LayerSite,
): void {
  const { plan, geometry, described, x } = of
  const { kernel, depth, filters, groups } = geometry
  const dWeight = site.gradient('weight')
  /** Six channels of a tap are one unit of work, as the kernel's tile has them. */
  const units = kernel * kernel * Math.ceil(depth / 6)
  plan.backward.push((at) => {
    for (let group = 0; group < groups; group++) {
      const own = group * (filters / groups) * bytesPerFloat
      const source = at(x) + group * depth * bytesPerFloat
      plan.run('convolveTransposed', units, described, plan.batch, source, at(dy) + own, at(dWeight) + own)
    }
  })
}

/** dx: a convolution of dy with the weights transposed, one residue class of pixels after the other. */
function inputBack(
  { plan, geometry, zeros }: { plan: Plan; geometry: Geometry; zeros: number },
  dy: Wire,
  site: LayerSite,
): Wire {
  const { height, width, channels, depth, filters, groups, stride } = geometry
  const weight = site.parameter('weight')
  const dx = plan.borrow(plan.batch * height * width * channels)
  const classes = inputPlans(geometry, zeros).map((one) => ({
    ...one,
    described: plan.describe(one.numbers),
  }))
  const largest = Math.max(...classes.map(({ rows, columns }) => rows * columns))
  const part = stride > 1 ? plan.borrow(plan.batch * largest * channels) : dx
  plan.backward.push((at) => {
    for (const { rows, columns, top, left, taps, described } of classes) {
      for (let group = 0; group < groups && taps > 0; group++) {
        const own = group * (filters / groups) * bytesPerFloat
        const into = at(part) + group * depth * bytesPerFloat
        const places = [at(dy) + own, at(weight) + own, into, 0] as const
        convolve(plan, described, [plan.batch * rows * columns, depth], places)
      }
      if (stride === 1) continue
      const place = [rows, columns, channels, at(dx), height, width, stride, top, left] as const
      plan.run('spread', plan.batch * rows, taps > 0 ? at(part) : 0, ...place)
    }
  })
  if (stride > 1) plan.done(part)
  return dx
}
