/** The end of a run: one last validation, the weights travel to the host, the model is written. */
import { PeerLostError } from '../../../../shared/errors.ts'
import { scoresOf } from '../../../../shared/model/tally.ts'
import { minute } from '../../../../shared/units.ts'
import type { StateVector } from '../../ports.ts'
import { peersOf, planOf } from '../plan-in-force.ts'
import type { Trained } from '../checkpoint.ts'
import { everTrained, handingOver, trainedOf } from './books.ts'
import { nothingLearned } from '../../../../shared/job/learned.ts'
import { learnFrom, slownessInWords } from '../learned.ts'
import { type Comparison, compare } from './comparison.ts'
import { collect } from './collect.ts'
import type { HostState } from './host-state.ts'
import { reportOfRun } from './run-report.ts'

/** A last validation passes a few thousand samples through the slowest PC. */
const validatedWithinMs = 20 * minute

/**
 * Write the model of the first cluster that can hand it over whole; where the host wants an end, or else the newest
 * that was kept. @returns its folder; undefined when too many are lost: the training has to go on from what was kept
 * @throws PeerLostError when the host wants an end and nothing was kept
 */
export async function conclude(host: HostState, signal: AbortSignal): Promise<string | undefined> {
  for (const cluster of handingOver(host)) {
    host.enter('finishing', 'last validation')
    await validateFinally(host, cluster, signal)
    host.enter('finishing', 'weights travel to the host')
    const [whole] = (await collect(host, { cluster, optimizer: false }, signal)) ?? []
    if (whole !== undefined) return save(host, whole, trainedOf(host, cluster))
  }
  if (!host.finishing && host.from.updates < host.hosted.spec.target.updates) return undefined
  const [kept] = host.checkpoint?.vectors ?? []
  if (host.checkpoint === undefined || kept === undefined)
    throw new PeerLostError(
      'no whole cluster is left to hand over the model; start again when all members are there',
    )
  host.log.say(`no whole cluster is left; the model is that of update ${host.checkpoint.trained.updates}`)
  return save(host, kept, {
    ...host.checkpoint.trained,
    lost: everTrained(host) - host.checkpoint.trained.samples,
  })
}

async function save(host: HostState, { values }: StateVector, trained: Trained): Promise<string> {
  host.concluded = trained
  host.enter('finishing', 'the model is written')
  const comparison = compare(host)
  learn(host, comparison)
  const report = { ...reportOfRun(host), comparison: comparison ?? null }
  const model = { spec: host.hosted.spec, state: values, report }
  const directory = await host.ports.vault.saveModel(host.hosted.job, model)
  host.log.say(`the model is in ${directory}`)
  return directory
}

/** What this run says of its PCs is for the next forecast, and said in words. */
function learn(host: HostState, comparison: Comparison | undefined): void {
  if (comparison === undefined) return
  const { hosted, roll, log, attendance } = host
  const { forecast, truth, peers } = comparison
  // Engines of one machine wait for each other: what they took says how many they were, not how fast this PC is.
  const shared = host.forecast?.shared?.peers
  const speeds = peers.filter(({ peer }) => shared?.has(peer) !== true)
  for (const { peer, slower } of speeds) {
    const words = slownessInWords(slower)
    if (words !== undefined) log.say(`${roll.nameOf(peer)} was ${words}`)
  }
  const rate = shared === undefined ? truth.samplesPerSecond / forecast.samplesPerSecond : undefined
  const lesson = { speeds, rate, attendance: attendance.shares() }
  hosted.onLearned?.(learnFrom(hosted.learned ?? nothingLearned, lesson))
}

async function validateFinally(host: HostState, cluster: number, signal: AbortSignal): Promise<void> {
  const { validationSamples } = host.hosted.spec.data
  const root = peersOf(planOf(host), cluster)[0] ?? ''
  if (validationSamples === 0) return
  const id = (host.validation?.id ?? 0) + 1
  host.validation = { id, cluster }
  void host.send(root, { type: 'validate', id, samples: validationSamples })
  const answered = () => host.validation?.tally !== undefined || !wholeCluster(host, cluster)
  await host.watch.until(answered, { signal, withinMs: validatedWithinMs })
  if (host.validation.tally !== undefined) host.finalScores = scoresOf(host.validation.tally)
}

function wholeCluster(host: HostState, cluster: number): boolean {
  return peersOf(planOf(host), cluster).every((peer) => host.roll.isPresent(peer))
}
