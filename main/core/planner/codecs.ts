/** Which codec each border of a cluster gets, from its lines against its engines. */
import type { Codec } from '../../../shared/codec/codec.ts'
import type { CostModel, Stage } from './cost.ts'

/**
 * From exact to small. Of the codecs with 16 bits the plan takes bfloat16: it has the range of float32, so small
 * gradients do not vanish and large activations do not become infinite.
 */
const candidates: readonly Codec[] = ['fp32', 'bf16', 'int8']
/** A cluster may be so much slower for the sake of exactness. */
const nearly = 0.95

/**
 * The codec of each border, root first. What the profile names holds for all. Else a border gets the most exact one
 * that leaves the cluster nearly as fast as it can be: float32 wherever the lines keep up with the engines.
 */
export function chooseCodecs(cost: CostModel, stages: readonly Stage[]): Codec[] {
  const { codec } = cost.profile
  const everywhere = (one: Codec): Codec[] => stages.slice(1).map(() => one)
  if (codec !== 'auto') return everywhere(codec)
  const rateOf = (codecs: readonly Codec[]) => cost.clusterCost(stages, codecs).samplesPerSecond
  const rates = candidates.map((one) => rateOf(everywhere(one)))
  const enough = nearly * Math.max(...rates)
  const first = candidates[rates.findIndex((rate) => rate >= enough)] ?? 'fp32'
  let chosen = everywhere(first)
  for (const border of chosen.keys()) {
    const exacter = candidates.slice(0, candidates.indexOf(first))
    const better = exacter.find((one) => rateOf(chosen.with(border, one)) >= enough)
    if (better !== undefined) chosen = chosen.with(border, better)
  }
  return chosen
}
