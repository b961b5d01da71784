/** Embeddings. B samples, T tokens, D width. */
import { elementCount } from '../../../../../shared/tensor.ts'
import type { LayerPlanner } from './planner.ts'

/** int32 [B, T] → [B, T, D]. Ids have no gradient. */
export const tokenEmbedding: LayerPlanner<'token-embedding'> = ({ width }, ids, site) => {
  const { plan, parameter, gradient } = site
  const y = plan.keep(ids.length * width)
  const [table, tableGradient] = [parameter('table'), gradient('table')]
  plan.forward.push((at) => plan.run('embed', ids.length, width, at(ids), at(table), at(y)))
  return {
    y,
    back(dy) {
      plan.backward.push((at) => plan.run('embedBack', width, ids.length, width, at(ids), at(dy), at(tableGradient))) // prettier-ignore
      plan.done(dy)
      return undefined
    },
  }
}

/** [B, T, D] + [T, D] */
export const positionEmbedding: LayerPlanner<'position-embedding'> = (_layer, x, site) => {
  const { plan, parameter, gradient, inputShape } = site
  const y = x.free ? x : plan.keep(x.length)
  const size = elementCount(inputShape)
  const [table, tableGradient] = [parameter('table'), gradient('table')]
  plan.forward.push((at) => plan.run('addToRows', plan.batch, size, at(x), at(table), at(y)))
  return {
    y,
    back(dy) {
      plan.backward.push((at) => plan.run('columnSums', size, plan.batch, size, at(dy), at(tableGradient)))
      return dy
    },
  }
}
