/** Who averages what with whom. */
import type { LayerRange } from '../../../shared/model/graph.ts'

/** A contiguous run of layers on one peer. */
export interface Held<P> {
  readonly peer: P
  readonly layers: LayerRange
}

export interface Ring<P> {
  readonly layers: LayerRange[]
  /** One a cluster, in cluster order. */
  readonly members: P[]
}

/**
 * The rings of clusters that each hold the whole model. The union of all cuts splits the layers into segments;
 * the holders of a segment, one a cluster, are its ring, and segments with the same holders share one.
 * Rings are in the order of their first layer; with one cluster every stage is a ring of one.
 */
export function ringsOf<P>(clusters: readonly (readonly Held<P>[])[]): Ring<P>[] {
  const ends = [...new Set(clusters.flatMap((stages) => stages.map((stage) => stage.layers[1])))]
  ends.sort((a, b) => a - b)
  const numbers = new Map<P, number>()
  const rings = new Map<string, Ring<P>>()
  let from = 0
  for (const to of ends) {
    const segment: LayerRange = [from, to]
    const members = clusters.flatMap((stages) =>
      stages
        .filter(({ layers }) => layers[0] <= segment[0] && segment[1] <= layers[1])
        .map(({ peer }) => peer),
    )
    for (const member of members) if (!numbers.has(member)) numbers.set(member, numbers.size)
    const key = members.map((member) => numbers.get(member)).join()
    const ring = rings.get(key)
    if (ring === undefined) rings.set(key, { layers: [segment], members })
    else ring.layers.push(segment)
    from = to
  }
  return [...rings.values()]
}
