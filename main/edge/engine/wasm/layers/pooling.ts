/** Pooling of images: [B, H, W, C] → [B, U, V, C]. */
import type { Shape } from '../../../../../shared/model/layout.ts'
import type { Wire } from '../plan.ts'
import type { LayerPlanner, LayerSite, Planned } from './planner.ts'
import { paddingBefore } from './windows.ts'

/** The first three numbers of a shape. */
export const three = ([a = 1, b = 1, c = 1]: Shape) => [a, b, c] as const

export const maxPool: LayerPlanner<'max-pool'> = (layer, x, site) => {
  const { plan, outputShape } = site
  const [height, width, depth] = three(site.inputShape)
  const [rows, columns] = three(outputShape)
  const stride = layer.stride ?? layer.size
  const [top, left] = [
    paddingBefore(height, rows, { ...layer, stride }),
    paddingBefore(width, columns, { ...layer, stride }),
  ]
  const y = plan.keep(plan.batch * rows * columns * depth)
  const chosen = plan.keep(y.length)
  plan.forward.push((at) => {
    const geometry = [height, width, depth, rows, columns, layer.size, stride, top, left] as const
    plan.run('maxPool', plan.batch, at(x), at(y), at(chosen), ...geometry)
  })
  return {
    y,
    back(dy, wanted) {
      const dx = wanted ? plan.borrow(x.length) : undefined
      if (dx)
        plan.backward.push((at) =>
          plan.run(
            'maxPoolBack',
            plan.batch,
            at(dy),
            at(chosen),
            at(dx),
            height * width,
            rows * columns,
            depth,
          ),
        )
      plan.done(dy)
      return dx
    },
  }
}

export const averagePool: LayerPlanner<'average-pool'> = (layer, x, site) => {
  const stride = layer.stride ?? layer.size
  const [height, width] = three(site.inputShape)
  const [rows, columns] = three(site.outputShape)
  const window = { ...layer, stride }
  const edges = [paddingBefore(height, rows, window), paddingBefore(width, columns, window)]
  return average(x, site, [rows, columns, layer.size, layer.size, stride, ...edges])
}

/** One window that is the whole image. */
export const globalAveragePool: LayerPlanner<'global-average-pool'> = (_layer, x, site) => {
  const [height, width] = three(site.inputShape)
  return average(x, site, [1, 1, height, width, 1, 0, 0])
}

/** @param window - U, V, the window's height and width, stride, padding above and left */
function average(x: Wire, { plan, inputShape }: LayerSite, window: readonly number[]): Planned {
  const [height, width, depth] = three(inputShape)
  const [rows = 1, columns = 1] = window
  const y = plan.keep(plan.batch * rows * columns * depth)
  const pass = (back: number, image: number, means: number) =>
    plan.run('averagePool', plan.batch, back, image, means, height, width, depth, ...window)
  plan.forward.push((at) => pass(0, at(x), at(y)))
  return {
    y,
    back(dy, wanted) {
      const dx = wanted ? plan.borrow(x.length) : undefined
      if (dx) plan.backward.push((at) => pass(1, at(dx), at(dy)))
      plan.done(dy)
      return dx
    },
  }
}
