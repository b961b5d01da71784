/** Multi-head self-attention. B samples, T tokens, D width, H heads, E = D/H. */
import type { LayerPlanner } from './planner.ts'
import { project } from './dense.ts'

export const attention: LayerPlanner<'attention'> = (layer, x, site) => {
  const { plan, parameter, gradient } = site
  const [tokens = 1, width = 1] = site.inputShape
  const { heads } = layer
  const projection = (part: 'qkv' | 'out', units: number) => ({
    weight: parameter(`${part}-weight`),
    weightGradient: gradient(`${part}-weight`),
    bias: { shift: parameter(`${part}-bias`), gradient: gradient(`${part}-bias`) },
    width,
    units,
  })
  const units = plan.batch * heads
  const shape = [tokens, heads, width / heads, layer.causal ? 1 : 0] as const
  const entry = project(plan, x, projection('qkv', 3 * width)) // [B, T, 3D]
  const qkv = entry.y
  const p = plan.keep(units * tokens * tokens) // [B, H, T, T]
  const mixed = plan.keep(x.length) // [B, T, D]
  plan.forward.push((at) => {
    plan.run('attend', units, ...shape, at(qkv), at(p), at(mixed))
  })
  const exit = project(plan, mixed, projection('out', width)) // [B, T, D]
  return {
    y: exit.y,
    back(dy, wanted) {
      const dMixed = exit.back(dy, true) ?? dy
      const dQkv = plan.borrow(qkv.length)
      const spare = plan.borrow(tokens * tokens)
      const others = plan.helpersRoom(tokens * tokens)
      plan.backward.push((at) => {
        plan.run('attendBack', units, ...shape, at(qkv), at(p), at(dMixed), at(dQkv), at(spare), others)
      })
      plan.done(spare)
      plan.done(dMixed)
      return entry.back(dQkv, wanted)
    },
  }
}
