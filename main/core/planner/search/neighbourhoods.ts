/** Who is near whom: the networks (homes, offices, regions) that links between peers give away. */

/** Two peers, by place, and what it costs to reach one from the other; only how costs compare matters. */
export type Way = readonly [a: number, b: number, cost: number]

/** Groups of peers, each peer in one; a peer far from everyone is alone. In the order of their first peers. */
export type Neighbourhoods = readonly (readonly number[])[]

/** Costs this much apart are of two kinds of network: inside and across. */
const leastGap = 1.25

/**
 * Ways to draw the borders, the clearest first: peers are joined from the nearest pair on, and wherever the next
 * pair that joins two groups is much farther than the one before, the groups so far are neighbourhoods.
 *
 * @param ways - known ones; a missing pair is farther than all of them
 * @param most - so many at the most
 */
export function neighbourhoodsOf(peers: number, ways: readonly Way[], most: number): Neighbourhoods[] {
  const joins = joinsOf(peers, ways)
  const gaps = joins.flatMap(([, , cost], index) => {
    const next = joins[index + 1]?.[2] ?? Infinity
    const everyone = index + 1 === peers - 1
    const gap = next / Math.max(cost, Number.MIN_VALUE)
    return !everyone && gap >= leastGap ? [{ joined: index + 1, gap }] : []
  })
  return gaps
    .toSorted((one, other) => other.gap - one.gap || one.joined - other.joined)
    .slice(0, most)
    .map(({ joined }) => groupsAfter(peers, joins.slice(0, joined)))
}

/** The pairs that join two groups, nearest first (Kruskal): at most one less than there are peers. */
function joinsOf(peers: number, ways: readonly Way[]): Way[] {
  const union = createUnion(peers)
  return ways
    .toSorted((one, other) => one[2] - other[2] || one[0] - other[0] || one[1] - other[1])
    .filter(([a, b]) => union.join(a, b))
}

function groupsAfter(peers: number, joins: readonly Way[]): Neighbourhoods {
  const union = createUnion(peers)
  for (const [a, b] of joins) union.join(a, b)
  const groups = new Map<number, number[]>()
  for (let peer = 0; peer < peers; peer++) {
    const head = union.headOf(peer)
    const group = groups.get(head)
    if (group === undefined) groups.set(head, [peer])
    else group.push(peer)
  }
  return [...groups.values()]
}

function createUnion(peers: number) {
  const heads = Int32Array.from({ length: peers }, (_, peer) => peer)
  function headOf(peer: number): number {
    let head = peer
    while ((heads[head] ?? head) !== head) head = heads[head] ?? head
    // The next look-up is short.
    for (let step = peer; step !== head;) {
      const next = heads[step] ?? head
      heads[step] = head
      step = next
    }
    return head
  }
  return {
    headOf,
    /** True when they were in two groups until now. */
    join(a: number, b: number): boolean {
      const [one, other] = [headOf(a), headOf(b)]
      heads[Math.max(one, other)] = Math.min(one, other)
      return one !== other
    },
  }
}
