/** Rings of the pool picture: a pill between two rows over exactly the layers that are averaged. */
import type { MemberView } from '../../../shared/messages/control.ts'
import type { Plan, RingPlan } from '../../../shared/plan/plan.ts'

export interface RingMark {
  readonly label: string
  readonly x: number
  readonly pillWidth: number
  /** Bottom of the row above, top of the row below. */
  readonly from: number
  readonly to: number
  readonly mine: boolean
  /** A member is lost or rests: the ring waits. */
  readonly broken: boolean
}

interface Rows {
  readonly at: (layer: number) => number
  readonly rowY: (row: number) => number
  readonly rowHeight: number
  readonly shift: number
}

const fullPill = 48
const shortPill = 24
/** Two digits still stand inside. */
const leastPill = 17

/** The rows that a ring's members stand in, top first. */
function rowsOf(ring: RingPlan, plan: Plan): number[] {
  const rows = plan.layout.clusters.flatMap(({ stages }, row) =>
    stages.some(({ peer }) => ring.members.includes(peer)) ? [row] : [],
  )
  return rows.sort((a, b) => a - b)
}

/** Marks of all rings of a plan: one a range of layers and a pair of neighbouring rows. */
export function ringsBetween(
  view: { readonly plan: Plan; readonly members: readonly MemberView[]; readonly self: string },
  rows: Rows,
): RingMark[] {
  const resting = new Set(
    view.members.filter(({ state }) => ['lost', 'idle', 'paused'].includes(state)).map(({ peer }) => peer),
  )
  return view.plan.layout.rings.flatMap((ring, index) => {
    const stand = rowsOf(ring, view.plan)
    const pairs = stand.slice(1).map((below, at) => [stand[at] ?? 0, below] as const)
    return ring.layers.flatMap(([from, to]) => {
      const room = rows.at(to) - rows.at(from) - 2 * rows.shift
      return pairs.map(([above, below]): RingMark => ({
        label: room >= fullPill ? `ring ${index + 1}` : String(index + 1),
        x: (rows.at(from) + rows.at(to)) / 2 - rows.shift,
        pillWidth: room >= fullPill ? fullPill : Math.max(leastPill, Math.min(shortPill, room + rows.shift)),
        from: rows.rowY(above) + rows.rowHeight,
        to: rows.rowY(below),
        mine: ring.members.includes(view.self),
        broken: ring.members.some((peer) => resting.has(peer)),
      }))
    })
  })
}
