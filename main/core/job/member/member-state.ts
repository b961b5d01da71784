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
  /** Pause was asked here; micro-batches in flight finish, if that does not take long. */
  | { readonly name: 'draining' }
  /** The cluster is held: by us, by another member, or because it lost one. */
  | { readonly name: 'paused'; readonly reason: string; readonly byUs: boolean }
  /** Leave was asked here; the host takes over what the stage knows before it lets us go. */
  | { readonly name: 'handing-over' }
  | { readonly name: 'finished' }
  | { readonly name: 'ended'; readonly reason: string }

export type MemberEvent =
  | { readonly name: 'assigned' }
  /** `pausing`: because this PC asked for a pause. */
  | { readonly name: 'left-out'; readonly reason: string; readonly pausing: boolean }
  | { readonly name: 'stage-ready' }
  | { readonly name: 'started' }
  | { readonly name: 'pause-asked' }
  | { readonly name: 'pause-after-round-asked' }
  /** What is in flight takes long: this PC pauses all the same, and keeps it. */
  | { readonly name: 'rested' }
  /** `holding`: this PC has a stage to go on with. */
  | { readonly name: 'resume-asked'; readonly holding: boolean }
  /** `holding`: this PC keeps numbers that others may take over. */
  | { readonly name: 'leave-asked'; readonly holding: boolean }
  | { readonly name: 'cluster-inactive'; readonly reason: string }
  | { readonly name: 'cluster-active' }
  | { readonly name: 'stage-finished' }
  | { readonly name: 'ended'; readonly reason: string }

type Named<N extends MemberState['name']> = Extract<MemberState, { name: N }>
type Rule<N extends MemberState['name']> = (state: Named<N>, event: MemberEvent) => MemberState

const paused = (reason: string, byUs: boolean): MemberState => ({ name: 'paused', reason, byUs })
const stay = (state: MemberState) => state
/** Whoever pauses before its stage begins is planned around. */
const plannedAround = paused('the plan goes without this PC', true)

/** What the events that depend on the state do, state by state. */
const rules: { [N in MemberState['name']]: Rule<N> } = {
  waiting: (state, event) => (event.name === 'pause-asked' ? plannedAround : state),
  // A cluster dropped out after we had finished: the last round is made again without it.
  finished: (state, event) => (event.name === 'cluster-inactive' ? paused(event.reason, false) : state),
  // The last round is made with this stage, too; nothing else matters any more.
  'handing-over': stay,
  ended: stay,
  preparing(state, event) {
    if (event.name === 'pause-asked') return plannedAround
    return event.name === 'stage-ready' ? { name: 'ready' } : state
  },
  ready(state, event) {
    if (event.name === 'pause-asked') return plannedAround
    return event.name === 'started' ? { name: 'training' } : state
  },
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
    if (event.name === 'rested') return paused('what is in flight waits here', true)
    // Another cluster came or went: that ours is still active does not take our pause back.
    if (event.name === 'resume-asked') return { name: 'training' }
    return event.name === 'stage-finished' ? { name: 'finished' } : state
  },
  paused(state, event) {
    // While our own pause goes on the cluster is woken only to hand over what its stages know.
    if (event.name === 'cluster-active' || event.name === 'started')
      return { name: state.byUs ? 'draining' : 'training' }
    // Another member may pause, too: the cluster goes on when all who asked are back.
    if (event.name === 'pause-asked') return state.byUs ? state : paused(state.reason, true)
    if (event.name !== 'resume-asked' || !state.byUs) return state
    return event.holding
      ? paused('the cluster is about to go on', false)
      : { name: 'waiting', reason: 'back; the host looks whether its plan needs this PC' }
  },
}

/** A stage of ours knows what nobody else may know. */
const holdsStage = ({ name }: MemberState): boolean =>
  ['training', 'ending-round', 'draining', 'paused', 'finished'].includes(name)

/** A plan that was made before the host heard of our pause is made again without us. */
const assigned = (state: MemberState): MemberState =>
  state.name === 'paused' && state.byUs ? state : { name: 'preparing' }

/** The state after an event, or the same state where the event means nothing. Total: no event throws. */
export function transition(state: MemberState, event: MemberEvent): MemberState {
  if (state.name === 'ended') return state
  if (event.name === 'ended') return { name: 'ended', reason: event.reason }
  if (state.name === 'handing-over') return state
  if (event.name === 'leave-asked')
    return event.holding || holdsStage(state) ? { name: 'handing-over' } : state
  if (event.name === 'assigned') return assigned(state)
  if (event.name === 'left-out')
    return event.pausing ? paused(event.reason, true) : { name: 'waiting', reason: event.reason }
  const rule = rules[state.name] as (state: MemberState, event: MemberEvent) => MemberState
  return rule(state, event)
}
