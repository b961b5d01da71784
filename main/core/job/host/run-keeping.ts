/** The run on disk: written down as it goes, and taken up again by a host whose program was started anew. */
import { reportOf } from '../../../../shared/errors.ts'
import type { RunBook } from '../../../../shared/job/run-book.ts'
import type { SavedRun } from '../../ports.ts'
import { type Checkpoint, untrained } from '../checkpoint.ts'
import { noProgress, type Report } from '../no-progress.ts'
import type { HostState } from './host-state.ts'
import type { Enrolled } from './roll.ts'

/** Checkpoints that the vault keeps. */
const keptCheckpoints = 2
/** Plans that were sent since the run was last written down are fewer: their numbers are never used again. */
const plansBetween = 1000

/** Write the run down. A full disk is no reason to stop: what was written before stays. */
export async function keepRun(host: HostState): Promise<void> {
  const { hosted, checkpoint, ports } = host
  const isNew = checkpoint !== undefined && host.kept.at(-1) !== checkpoint.trained
  if (isNew) host.kept = [...host.kept, checkpoint.trained].slice(-keptCheckpoints)
  try {
    const save = isNew ? saveOf(checkpoint) : undefined
    await ports.vault.saveRun(hosted.job, { book: bookOf(host), checkpoint: save })
  } catch (error) {
    ports.log('warn', `the run could not be written down: ${reportOf(error).message}`)
  }
}

function saveOf({ trained, vectors }: Checkpoint): SavedRun['checkpoint'] {
  const [state, ...moments] = vectors
  if (state === undefined) return undefined
  return { updates: trained.updates, state, moments: moments.map(({ values }) => values) }
}

function bookOf(host: HostState): RunBook {
  const { planNumber, trainingCurve, validationCurve, roll, secondsTrained, plan, layoutNumber, from } = host
  const { self } = host.ports.links
  return {
    planNumber,
    trained: [...host.kept],
    secondsTrained,
    trainingCurve: [...trainingCurve.points],
    validationCurve: [...validationCurve.points],
    members: roll.all.filter(({ peer }) => peer !== self).map(memberOf),
    ...ownOf(roll.get(self)),
    ...(plan === undefined ? {} : { inForce: { plan, layoutNumber, from } }),
  }
}

const ownOf = (own: Enrolled | undefined) => (own === undefined ? {} : { own: memberOf(own) })

function memberOf({ peer, device, addresses, links, wish, earlier, progress }: Enrolled) {
  return {
    ...{ peer, device, addresses: [...addresses], links: [...links], left: wish === 'leave' },
    did: withoutEnvelope(earlier),
    ...(progress === undefined ? {} : { doing: { ...withoutEnvelope(progress), ...placeOf(progress) } }),
  }
}

/** Where its cluster stands in the data, as far as it knows. */
const placeOf = ({ cursor, averagedSamples }: Report) => ({
  averagedSamples,
  ...(cursor === undefined ? {} : { cursor }),
})

function withoutEnvelope(did: Report): RunBook['members'][number]['did'] {
  const { updates, samples, busyMs, dropped, maxStaleness, peakTensorBytes, sent, rounds } = did
  return { ...noProgress, updates, samples, busyMs, dropped, maxStaleness, peakTensorBytes, sent, rounds }
}

/** Go on where the run was written down last. */
export function takeUpRun(host: HostState): void {
  const { resume } = host.hosted
  if (resume === undefined) return
  const { book, checkpoint } = resume
  host.planNumber = book.planNumber + plansBetween
  host.secondsBefore = book.secondsTrained
  if (checkpoint !== undefined) {
    const { updates, state, moments = [] } = checkpoint
    const trained = book.trained.find((one) => one.updates === updates) ?? { ...untrained, updates }
    const vectors = [state, ...moments.map((values) => ({ layers: state.layers, values }))]
    host.checkpoint = { trained, vectors }
    host.from = trained
    host.kept = [trained]
  }
  for (const point of book.trainingCurve) host.trainingCurve.add(point)
  for (const point of book.validationCurve) host.validationCurve.add(point)
  host.log.say(`the run goes on from update ${host.from.updates}`)
  takeUpMembers(host, book)
  if (book.inForce === undefined) host.cutCurves(host.from.updates)
  else takeUpPlan(host, book.inForce)
}

function takeUpMembers(host: HostState, { members, own }: RunBook): void {
  const { roll, ports } = host
  if (own !== undefined) Object.assign(roll.get(ports.links.self) ?? {}, didOf(host, own))
  for (const { peer, device, addresses, left, ...did } of members) {
    roll.enroll(peer, device, addresses)
    const missing = { state: 'lost', reason: 'not back yet', wish: left ? 'leave' : 'train' }
    Object.assign(roll.get(peer) ?? {}, didOf(host, did), missing)
  }
}

function didOf(host: HostState, { did, doing, links }: NonNullable<RunBook['own']>): Partial<Enrolled> {
  const progress = doing === undefined ? undefined : { ...doing, ...envelopeOf(host) }
  return { earlier: did, progress, links }
}

const envelopeOf = ({ hosted }: HostState) => ({ type: 'progress', job: hosted.job, plan: 0 }) as const

/** Clusters that went on by it are active again as soon as all their members say so. */
function takeUpPlan(host: HostState, { plan, layoutNumber, from }: NonNullable<RunBook['inForce']>): void {
  host.plan = { ...plan, number: host.planNumber, active: [] }
  host.layoutNumber = layoutNumber
  host.from = from
}
