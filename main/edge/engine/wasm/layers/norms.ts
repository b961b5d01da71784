/** Batch norm and layer norm over the last axis: [N, D]. */
import type { Place, Wire } from '../plan.ts'
import type { LayerPlanner, LayerSite, Planned } from './planner.ts'

export const layerNorm: LayerPlanner<'layer-norm'> = ({ epsilon }, x, site) => {
  const { plan, parameter, gradient } = site
  const width = site.inputShape.at(-1) ?? 1
  const rows = x.length / width
  const [scale, shift] = [parameter('scale'), parameter('shift')]
  const y = plan.keep(x.length)
  const [mean, inverse] = [plan.keep(rows), plan.keep(rows)]
  plan.forward.push((at) => {
    plan.run('layerNorm', rows, width, epsilon, at(x), at(scale), at(shift), at(y), at(mean), at(inverse))
  })
  return {
    y,
    back(dy, wanted) {
      const [dScale, dShift] = [gradient('scale'), gradient('shift')]
      const dx = wanted ? plan.borrow(x.length) : undefined
      plan.backward.push((at) => {
        const seen = [at(x), at(mean), at(inverse), at(dy)] as const
        plan.run('layerNormParameters', width, rows, width, ...seen, at(dScale), at(dShift))
        if (dx)
          plan.run('layerNormBack', rows, width, at(x), at(scale), at(mean), at(inverse), at(dy), at(dx))
      })
      plan.done(dy)
      return dx
    },
  }
}

export const batchNorm: LayerPlanner<'batch-norm'> = (layer, x, site) => {
  const width = site.inputShape.at(-1) ?? 1
  return site.plan.training
    ? byMicroBatch(layer, x, { ...site, width })
    : byRunningStatistics(layer.epsilon, x, { ...site, width })
}

type NormSite = LayerSite & { readonly width: number }

/** Training: statistics of this micro-batch, which the running ones follow once. */
function byMicroBatch(layer: { epsilon: number; momentum: number }, x: Wire, site: NormSite): Planned {
  const { plan, parameter, gradient, width } = site
  const rows = x.length / width
  const [scale, shift] = [parameter('scale'), parameter('shift')]
  const y = plan.keep(x.length)
  const [mean, inverse, variance] = [plan.keep(width), plan.keep(width), plan.keep(width)]
  plan.forward.push((at) => {
    const found = [at(mean), at(inverse), at(variance)] as const
    plan.run('batchNorm', width, rows, width, layer.epsilon, at(x), at(scale), at(shift), at(y), ...found)
  })
  const { momentum } = layer
  const follow = (running: Place, seen: Place) => {
    plan.settle.push((at) =>
      plan.run('mix', width, momentum, at(running), 1 - momentum, at(seen), at(running)),
    )
  }
  follow(parameter('running-mean'), mean)
  follow(parameter('running-variance'), variance)
  return {
    y,
    back(dy, wanted) {
      const [dScale, dShift] = [gradient('scale'), gradient('shift')]
      const dx = wanted ? plan.borrow(x.length) : undefined
      const spare = plan.borrow(3 * width)
      plan.backward.push((at) => {
        const seen = [at(x), at(scale), at(mean), at(inverse), at(dy)] as const
        const found = [dx ? at(dx) : 0, at(dScale), at(dShift), at(spare)] as const
        plan.run('batchNormBack', width, rows, width, ...seen, ...found)
      })
      plan.done(spare)
      plan.done(dy)
      return dx
    },
  }
}

/** Evaluation: nothing is learned from it. */
function byRunningStatistics(epsilon: number, x: Wire, { plan, parameter, width }: NormSite): Planned {
  const rows = x.length / width
  const y = plan.keep(x.length)
  const [scale, shift] = [parameter('scale'), parameter('shift')]
  const [mean, variance] = [parameter('running-mean'), parameter('running-variance')]
  plan.forward.push((at) => {
    plan.run('batchNormRunning', rows, width, epsilon, at(x), at(scale), at(shift), at(mean), at(variance), at(y)) // prettier-ignore
  })
  return { y, back: () => undefined }
}
