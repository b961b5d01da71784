/** Where a member is in its life: a union and one total function. */

export type MemberState =
  /** In the job, without a stage: before the first plan, or left out by it. */
  | { readonly name: 'waiting'; readonly reason: string }
  /** The engine loads, shards and weights arrive. */
  | { readonly name: 'preparing' }
  | { readonly name: 'ready' }
  | { readonly name: 'training' }
  /** A pause was asked here for after the averaging round; until that is over this PC trains on. */
  | { readonly name: 'ending-round' }
  /** Pause was asked here; micro-batches in flight finish. */
  | { readonly name: 'draining' }
  /** The cluster is held: by us, by another member, or because it lost one. */
  | { readonly name: 'paused'; readonly reason: string; readonly byUs: boolean }
  | { readonly name: 'finished' }
  | { readonly name: 'ended'; readonly reason: string }

export type MemberEvent =
  | { readonly name: 'assigned' }
  | { readonly name: 'left-out'; readonly reason: string }
  | { readonly name: 'stage-ready' }
  | { readonly name: 'started' }
  | { readonly name: 'pause-asked' }
  | { readonly name: 'pause-after-round-asked' }
  | { readonly name: 'resume-asked' }
  | { readonly name: 'cluster-inactive'; readonly reason: string }
  | { readonly name: 'cluster-active' }
  | { readonly name: 'stage-finished' }
  | { readonly name: 'ended'; readonly reason: string }

type Named<N extends MemberState['name']> = Extract<MemberState, { name: N }>
type Rule<N extends MemberState['name']> = (state: Named<N>, event: MemberEvent) => MemberState

const paused = (reason: string, byUs: boolean): MemberState => ({ name: 'paused', reason, byUs })
const stay = (state: MemberState) => state

/** What the events that depend on the state do, state by state. */
const rules: { [N in MemberState['name']]: Rule<N> } = {
  waiting: stay,
  // A cluster dropped out after we had finished: the last round is made again without it.
  finished: (state, event) => (event.name === 'cluster-inactive' ? paused(event.reason, false) : state),
  ended: stay,
  preparing: (state, event) => (event.name === 'stage-ready' ? { name: 'ready' } : state),
  ready: (state, event) => (event.name === 'started' ? { name: 'training' } : state),
  training(state, event) {
    if (event.name === 'pause-asked') return { name: 'draining' }
    if (event.name === 'pause-after-round-asked') return { name: 'ending-round' }
    if (event.name === 'cluster-inactive') return paused(event.reason, false)
    return event.name === 'stage-finished' ? { name: 'finished' } : state
  },
  'ending-round'(state, event) {
    if (event.name === 'pause-asked') return { name: 'draining' }
    if (event.name === 'cluster-inactive') return paused(event.reason, false)
    if (event.name === 'resume-asked') return { name: 'training' }
    return event.name === 'stage-finished' ? { name: 'finished' } : state
  },
  draining(state, event) {
    if (event.name === 'cluster-inactive') return paused(event.reason, true)
    // Another cluster came or went: that ours is still active does not take our pause back.
    if (event.name === 'resume-asked') return { name: 'training' }
    return event.name === 'stage-finished' ? { name: 'finished' } : state
  },
  paused(state, event) {
    if (event.name === 'cluster-active') return { name: 'training' }
    // Another member may pause, too: the cluster goes on when all who asked are back.
    if (event.name === 'pause-asked') return state.byUs ? state : paused(state.reason, true)
    return event.name === 'resume-asked' && state.byUs
      ? paused('the cluster is about to go on', false)
      : state
  },
}

/** The state after an event, or the same state where the event means nothing. Total: no event throws. */
export function transition(state: MemberState, event: MemberEvent): MemberState {
  if (state.name === 'ended') return state
  if (event.name === 'ended') return { name: 'ended', reason: event.reason }
  if (event.name === 'assigned') return { name: 'preparing' }
  if (event.name === 'left-out') return { name: 'waiting', reason: event.reason }
  const rule = rules[state.name] as (state: MemberState, event: MemberEvent) => MemberState
  return rule(state, event)
}
