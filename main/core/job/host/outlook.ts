/** What the pool is expected to do as it is, and with more PCs like the one that asks. */
import { nothingLearned } from '../../../../shared/job/learned.ts'
import type { PeerId } from '../../../../shared/ids.ts'
import type { Recipe } from '../../../../shared/job/recipe.ts'
import type { JobSpec } from '../../../../shared/job/spec.ts'
import type { Outlook, Prospect } from '../../../../shared/messages/cards.ts'
import type { Layout } from '../../../../shared/plan/plan.ts'
import type { Pool } from '../../../../shared/plan/pool.ts'
import { type BytesPerSecond, second } from '../../../../shared/units.ts'
import { apart, assumedPeer, type Line, nearby } from '../assumed-lines.ts'
import type { LentPc } from '../join-estimate.ts'
import { profileOf } from '../../model/profile.ts'
import { planUploads } from '../../planner/plan-rate.ts'
import { spreadOf } from '../learned.ts'
import { planInForce } from '../plan-in-force.ts'
import type { HostState } from './host-state.ts'
import { poolOf } from './prepare.ts'
import { worthwhile } from './replan.ts'
import { updatesMade } from './run-report.ts'

/** Each takes the planning thread for up to seconds, beside the training: friends wait, a crowd is not answered. */
const mostAtOnce = 4
/** Plans of a thousand PCs would take longer than the one who asks waits for an answer. */
const answerWithinMs = 15 * second

const guestName = (index: number): PeerId => `guest-${index + 1}`
const firstGuest = guestName(0)

/** Of one plan. */
interface Rates {
  readonly samplesPerSecond: number
  /** Of the slowest cluster, which decides when the target is reached. */
  readonly updatesPerSecond: number
  /** Of the guest. */
  readonly uploadBytesPerSecond: BytesPerSecond
}

/** By the planner, on a near line and on a far one where nobody has measured; undefined: the model does not fit. */
type ByLine = { readonly near: Rates; readonly far: Rates } | undefined

export class Outlooks {
  readonly #host: HostState
  #asked = 0
  #last: Promise<unknown> = Promise.resolve()

  constructor(host: HostState) {
    this.#host = host
  }

  /** One after the other. Undefined where too many ask at once, it takes too long, or what is lent makes no plan. */
  async ask(guest: LentPc, signal: AbortSignal): Promise<Outlook | undefined> {
    if (this.#asked >= mostAtOnce) return undefined
    this.#asked++
    const tooLate = new AbortController()
    const found = this.#last.then(() =>
      outlookOf(this.#host, guest, AbortSignal.any([signal, tooLate.signal])),
    )
    this.#last = found.catch(() => undefined)
    const timer = new AbortController()
    const { clock, log } = this.#host.ports
    clock.sleep(answerWithinMs, timer.signal).then(
      () => {
        tooLate.abort()
      },
      () => undefined,
    )
    try {
      return await found
    } catch (error) {
      log('debug', 'no outlook for a stranger', { error: String(error) })
      return undefined
    } finally {
      timer.abort()
      this.#asked--
    }
  }
}

async function outlookOf(host: HostState, guest: LentPc, signal: AbortSignal): Promise<Outlook> {
  const now = await ratesWith(host, { guest, count: 0 }, signal)
  const gain = host.plan === undefined ? 1 : worthwhile
  const withYou = better(now, await ratesWith(host, { guest, count: 1 }, signal), gain)
  const withOneMore = better(withYou, await ratesWith(host, { guest, count: 2 }, signal), gain)
  const truth = truthOverPlan(host)
  const prospect = (rates: ByLine) => prospectOf(host, rates, truth)
  const uploads =
    withYou === undefined ? [0] : [withYou.near, withYou.far].map((rates) => rates.uploadBytesPerSecond)
  return {
    now: prospect(now),
    withYou: prospect(withYou),
    withOneMore: prospect(withOneMore),
    uploadBytesPerSecond: [truth * Math.min(...uploads), truth * Math.max(...uploads)],
  }
}

/** A PC that brings nothing stays out of the plan; where one is in force, also one for which it would hardly be stopped. */
function better(before: ByLine, after: ByLine, gain: number): ByLine {
  if (before === undefined || after === undefined) return after ?? before
  const best = (line: keyof NonNullable<ByLine>) =>
    gain * before[line].samplesPerSecond > after[line].samplesPerSecond ? before[line] : after[line]
  return { near: best('near'), far: best('far') }
}

async function ratesWith(
  host: HostState,
  more: { readonly guest: LentPc; readonly count: number },
  signal: AbortSignal,
): Promise<ByLine> {
  const { plan, hosted, ports } = host
  const { graph, recipe, seed } = hosted.spec
  if (more.count === 0 && plan !== undefined) {
    const inForce = { ...ratesOf(plan.layout, recipe), uploadBytesPerSecond: 0 }
    return { near: inForce, far: inForce }
  }
  const { clusters } = hosted.gathering
  const ratesOn = async (line: Line) => {
    const pool = poolWith(host, more, line)
    const request = { pool, graph, recipe, seed, clusters, layerFlops: hosted.layerFlops }
    const layout = await ports.plan(request, signal)
    if ('feasible' in layout) return undefined
    const uploadBytesPerSecond = uploadOf(firstGuest, { pool, layout, spec: hosted.spec })
    return { ...ratesOf(layout, recipe), uploadBytesPerSecond }
  }
  const near = await ratesOn(nearby)
  const far = near && (await ratesOn(apart))
  return near && far && { near, far }
}

/** 0 for a PC that is not in the plan. */
function uploadOf(
  peer: PeerId,
  {
    pool,
    layout,
    spec: { graph, recipe },
  }: { readonly pool: Pool; readonly layout: Layout; readonly spec: JobSpec },
): BytesPerSecond {
  const rates = layout.clusters.map(({ samplesPerSecond }) => samplesPerSecond)
  const uploads = planUploads(
    { pool, profile: profileOf(graph, recipe) },
    planInForce(layout, recipe, 1),
    rates,
  )
  const peers = layout.clusters.flatMap(({ stages }) => stages.map((stage) => stage.peer))
  return uploads[peers.indexOf(peer)] ?? 0
}

function ratesOf(layout: Layout, recipe: Recipe): Omit<Rates, 'uploadBytesPerSecond'> {
  const { accumulate } = planInForce(layout, recipe, 1)
  const rates = layout.clusters.map(({ samplesPerSecond }) => samplesPerSecond)
  return {
    samplesPerSecond: layout.samplesPerSecond,
    updatesPerSecond: Math.min(...rates) / (accumulate * recipe.schedule.microBatch),
  }
}

/** Those who want to train, and PCs that are only thought of. */
function poolWith(
  host: HostState,
  { guest, count }: { readonly guest: LentPc; readonly count: number },
  line: Line,
): Pool {
  const known = poolOf(host)
  const willing = host.roll.willing
  const unmeasured = new Set(willing.filter(({ links }) => links.length === 0).map(({ peer }) => peer))
  const ofLine = { uploadBytesPerSecond: line.upload, downloadBytesPerSecond: line.download }
  const peers = known.peers.map((peer) => (unmeasured.has(peer.id) ? { ...peer, ...ofLine } : peer))
  const guests = Array.from({ length: count }, (_, index) => assumedPeer(guestName(index), guest, line))
  return { ...known, peers: [...peers, ...guests], defaultLatencySeconds: line.latencySeconds }
}

function prospectOf(host: HostState, byLine: ByLine, truth: number): Prospect | null {
  if (byLine === undefined) return null
  const rates = [byLine.near, byLine.far]
  const { spec, learned = nothingLearned } = host.hosted
  const [least, most] = spreadOf(learned)
  const left = Math.max(0, spec.target.updates - updatesMade(host))
  const samplesPerSecond = rates.map((rate) => truth * rate.samplesPerSecond)
  const seconds = rates.map((rate) => left / (truth * rate.updatesPerSecond))
  return {
    samplesPerSecond: [Math.min(...samplesPerSecond) / most, Math.max(...samplesPerSecond) / least],
    seconds: [least * Math.min(...seconds), most * Math.max(...seconds)],
  }
}

/** How much faster the pool is than its plan says: as it trains now; before that, as its PCs share a machine. */
function truthOverPlan({ plan, forecast, pace, phase }: HostState): number {
  if (plan === undefined || forecast === undefined) return 1
  const planned = plan.active.reduce(
    (sum, cluster) => sum + (plan.layout.clusters[cluster]?.samplesPerSecond ?? 0),
    0,
  )
  const expected = forecast.rates.reduce((sum, rate) => sum + rate, 0)
  const seen = phase === 'training' ? pace.samplesPerSecond : 0
  const truth = (seen > 0 ? seen : expected) / planned
  return truth > 0 && Number.isFinite(truth) ? truth : 1
}
