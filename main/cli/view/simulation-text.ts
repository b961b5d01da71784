/** What a simulation came to, for a person. */
import { layersInWords } from '../../../shared/plan/words.ts'
import type { SimulationReport } from '../tasks.ts'
import { harmless } from './columns.ts'
import { formatDuration, formatRate, formatTraffic } from './numbers.ts'

/** Pools larger than this are told by their sums. */
const mostStages = 24
const mostRemedies = 5
/** Less is noise. */
const leastGain = 0.01

const percent = (share: number) => `${Math.round(100 * share)} %`

export function simulationText(report: SimulationReport): string {
  return [
    `${formatRate(report.samplesPerSecond)} over ${formatDuration(report.simulatedSeconds)} with ${report.participants} PCs in ${report.clusters} clusters (the plan promised ${formatRate(report.modelledSamplesPerSecond)})`,
    `why not faster: ${harmless(report.whySlow.sentence)}`,
    ...remedyRows(report.remedies),
    ...stages(report),
    `staleness: ${staleness(report.staleness)}`,
    `sent: ${formatTraffic(report.bytesSent.activations)} activations, ${formatTraffic(report.bytesSent.gradients)} gradients, ${formatTraffic(report.bytesSent.parameters)} parameters`,
    ...churn(report),
  ].join('\n')
}

/** The remedies that bring something, the best first. */
export function remedyRows(all: SimulationReport['remedies']): string[] {
  const worth = all.filter(({ gain }) => gain >= leastGain).slice(0, mostRemedies)
  if (worth.length === 0) return ['nothing that we tried would help by itself']
  return worth.map(
    ({ change, gain, samplesPerSecond }) =>
      `  +${percent(gain)} (${formatRate(samplesPerSecond)}): ${harmless(change)}`,
  )
}

function stages({ stages: all }: SimulationReport): string[] {
  if (all.length > mostStages) return []
  return all.map(
    ({ cluster, peer, layers, busyShare, uploadShare, downloadShare }) =>
      `  cluster ${cluster + 1}, ${harmless(peer)}, ${layersInWords(layers)}: processor ${percent(busyShare)}, up ${percent(uploadShare)}, down ${percent(downloadShare)}`,
  )
}

function staleness(counts: readonly number[]): string {
  const all = counts.reduce((sum, count) => sum + count, 0)
  if (all === 0) return 'no micro-batch came back'
  return counts.map((count, updates) => `${percent(count / all)} by ${updates}`).join(', ')
}

function churn({ losses, plans, lostSamples }: SimulationReport): string[] {
  if (losses === 0) return []
  return [`PCs were lost ${losses} times: ${plans} plans, ${Math.round(lostSamples)} samples trained in vain`]
}
