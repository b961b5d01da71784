/** The five networks of DT-FM: the cost of the published layouts, and the best that a search finds from the matrices alone. */
import type { Reproduction, Row } from '../table.ts'
import { createCommunicationCost, type Groups } from './cost.ts'
import { type Scenario, scenarios } from './scenarios.ts'
import { searchGroups } from './search.ts'

export const groupCount = 8
const seed = 1
const evaluations = 12_000
/** Figures were published to two decimals. */
const rounding = 0.005

/** A stage a region, and one device of each region a stage. */
export const layoutsOf = (devices: number): { readonly block: Groups; readonly strided: Groups } => {
  const size = devices / groupCount
  const groups = (deviceOf: (group: number, member: number) => number): Groups =>
    Array.from({ length: groupCount }, (_, group) =>
      Array.from({ length: size }, (_, member) => deviceOf(group, member)),
    )
  return {
    block: groups((group, member) => group * size + member),
    strided: groups((group, member) => group + member * groupCount),
  }
}

function rowsOf(scenario: Scenario): Row[] {
  const { name, published, bestKnown } = scenario
  const cost = createCommunicationCost(scenario, groupCount)
  const { block, strided } = layoutsOf(scenario.devices)
  const found = searchGroups(scenario, { seed, evaluations, neighbourhoods: true })
  const within = (value: number) => rounding / value
  return [
    {
      what: `${name}: a stage a region`,
      published: published.block,
      ours: cost.of(block).total,
      within: within(published.block),
    },
    {
      what: `${name}: every region in every stage`,
      published: published.strided,
      ours: cost.of(strided).total,
      within: within(published.strided),
    },
    {
      what: `${name}: best known, and found`,
      published: bestKnown,
      ours: found.costs.total,
      atMost: bestKnown + rounding,
    },
  ]
}

export function reproduceDtfm(): Promise<Reproduction> {
  return Promise.resolve({
    title: 'Seconds of communication of a training step of GPT3-XL on 64 devices',
    source:
      'Yuan et al., NeurIPS 2022, arXiv 2206.01288; delays and bandwidths: github.com/DS3Lab/DT-FM (MIT)',
    rows: scenarios.flatMap(rowsOf),
    notes: [
      'The search knows the two matrices and nothing else; its founders deal the neighbourhoods that it finds in them.',
      'Best known: the least of structured layouts and simulated annealing. It is not proven to be the optimum.',
    ],
  })
}
