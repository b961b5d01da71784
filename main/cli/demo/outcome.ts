/** What a demo found out: its result line, and the same in plain words. */
import type { Plan } from '../../../shared/plan/plan.ts'
import { AgentEndedError } from '../errors.ts'
import type { EndedJob } from '../follow.ts'
import { harmless } from '../view/columns.ts'
import { formatBytes, formatCount, formatLoss, formatShare } from '../view/numbers.ts'
import { scoresText, sentText } from '../view/result-text.ts'

export interface Quality {
  readonly loss: number
  readonly accuracy: number
}

export interface DemoRuns {
  readonly peers: number
  readonly pool: EndedJob
  readonly single: EndedJob
  readonly plain: EndedJob | undefined
  /** Where the finished model was copied to. */
  readonly model: string
}

/** @throws AgentEndedError when the agent reports an end without a validation or a plan */
function qualityOf(job: EndedJob): Quality {
  const { validation } = job.result
  if (validation === null) throw new AgentEndedError(`${job.name} ended without a validation`)
  return { loss: validation.loss, accuracy: validation.accuracy }
}

export function planOf(job: EndedJob): Plan {
  if (job.plan === null) throw new AgentEndedError(`${job.name} ended without a plan`)
  return job.plan
}

/** A cluster as its stages: who holds which layers. */
type ClusterLine = (readonly [peer: string, from: number, toExclusive: number])[]

/** The last line of `rookery demo --json`. */
export function demoResult(runs: DemoRuns) {
  const { pool, single, plain } = runs
  const names = new Map(pool.members.map(({ peer, displayName }) => [peer, displayName]))
  const clusters = planOf(pool).layout.clusters.map(({ stages }): ClusterLine =>
    stages.map(({ peer, layers }) => [names.get(peer) ?? peer, layers[0], layers[1]]),
  )
  const peak = new Map(pool.members.map((member) => [member.displayName, member.peakTensorBytes]))
  return {
    event: 'result',
    peers: runs.peers,
    clusters,
    updates: pool.result.updates,
    samples: pool.result.samples,
    validation: qualityOf(pool),
    baseline: qualityOf(single),
    ...(plain === undefined
      ? {}
      : { plain: { ...qualityOf(plain), maxStaleness: plain.result.maxStaleness } }),
    bytesSent: pool.result.bytesSent,
    peakTensorBytes: {
      single: Math.max(0, ...single.members.map((member) => member.peakTensorBytes)),
      /** In the order of the peers' names: `peer-1` hosts. */
      perPeer: Array.from({ length: runs.peers }, (_, index) => peak.get(demoPeerName(index)) ?? 0),
    },
    maxStaleness: pool.result.maxStaleness,
    model: runs.model,
  }
}

export const demoPeerName = (index: number): string => `peer-${index + 1}`

/** The comparison for people. */
export function demoText(runs: DemoRuns): string {
  const result = demoResult(runs)
  const { validation, baseline, peakTensorBytes } = result
  const largest = Math.max(...peakTensorBytes.perPeer)
  const share = peakTensorBytes.single > 0 ? largest / peakTensorBytes.single : 0
  const clusters = result.clusters.length === 1 ? 'one cluster' : `${result.clusters.length} clusters`
  return [
    `The pool of ${runs.peers} in ${clusters}   ${scoresText(validation)}`,
    `One PC alone                ${scoresText(baseline)}`,
    `on samples that neither trained on, after ${formatCount(result.updates)} updates with the same number of samples each.`,
    difference(validation, baseline),
    ...lossesOf(runs.pool),
    ...(result.plain === undefined
      ? []
      : [
          `Without accumulation and staleness correction the pool gets ${scoresText(result.plain)}, at staleness up to ${result.plain.maxStaleness}.`,
        ]),
    '',
    ...(result.clusters.every((stages) => stages.length > 1) ? ['No peer held the whole model.'] : []),
    `The largest peer needed ${formatBytes(largest)} of tensors, ${formatShare(share)} of the ${formatBytes(peakTensorBytes.single)} of one PC${share > 1 ? ', for it has several micro-batches in flight' : ''}.`,
    `Sent between peers: ${sentText(result.bytesSent)}.`,
    `Gradients were at most ${result.maxStaleness} updates old.`,
    `The model is in ${result.model}`,
  ].join('\n')
}

function difference(pool: Quality, single: Quality): string {
  const points = (pool.accuracy - single.accuracy) * 100
  const accuracy =
    Math.abs(points) < 0.05
      ? 'The accuracies are equal'
      : `The pool is ${Math.abs(points).toFixed(1)} points of accuracy ${points > 0 ? 'better' : 'worse'}`
  return `${accuracy}; its loss differs by ${formatLoss(pool.loss - single.loss)}.`
}

/** A pool that lost somebody is no fair comparison: say so. */
function lossesOf(pool: EndedJob): string[] {
  const { active, layout } = planOf(pool)
  const stopped = layout.clusters.length - active.length
  if (stopped === 0) return []
  return [`${stopped} of its clusters stopped on the way (${harmless(pool.result.reason)}).`]
}
