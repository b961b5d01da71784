import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fit } from '../../../../renderer/window/words/fit.ts'
import { poolInWords } from '../../../../renderer/window/words/pool-in-words.ts'
import { layPool } from '../../../../renderer/window/words/pool-layout.ts'
import { nameOf } from '../../../../renderer/window/words/pool-names.ts'
import { slowestOf } from '../../../../renderer/window/words/pool-status.ts'
import { shownName, withShownNames } from '../../../../renderer/window/words/shown-name.ts'
import type { Plan, StagePlan } from '../../../../shared/plan/plan.ts'
import { everybody, peers, twoClusters } from '../../fixtures/people.ts'
import { many, names } from '../../fixtures/hard.ts'
import { lost } from '../../fixtures/snapshots.ts'

const healthy = { plan: twoClusters, members: everybody, self: peers.laptop }

/** Any number of clusters, each cutting the same layers at its own places. */
const anyPlan: fc.Arbitrary<Plan> = fc
  .record({
    layers: fc.integer({ min: 1, max: 64 }),
    cuts: fc.array(fc.array(fc.integer({ min: 1, max: 63 }), { maxLength: 6 }), {
      minLength: 1,
      maxLength: 5,
    }),
  })
  .map(({ layers, cuts }) => ({
    ...twoClusters,
    active: cuts.map((_, cluster) => cluster),
    layout: {
      ...twoClusters.layout,
      rings: [],
      clusters: cuts.map((row, cluster) => {
        const borders = [...new Set([0, ...row.filter((cut) => cut < layers), layers])].sort((a, b) => a - b)
        const stages = borders.slice(1).map((to, index): StagePlan => ({
          peer: `peer-${cluster}-${index}`,
          layers: [borders[index] ?? 0, to],
          memoryBytes: 1,
          secondsPerMicroBatch: 1,
        }))
        return { stages, samplesPerSecond: 1 }
      }),
    },
  }))

describe('the picture of the pool', () => {
  it('puts each stage over its layers, in the row of its cluster', () => {
    const { clusters, layerLabels } = layPool(healthy)
    expect(layerLabels.map(({ text }) => text)).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '10'])
    expect(clusters.map(({ stages }) => stages.map(({ x, width }) => [x, width]))).toEqual([
      [
        [80, 152],
        [248, 208],
        [472, 166],
      ],
      [
        [80, 264],
        [360, 278],
      ],
    ])
  })

  it('keeps stages of a row apart and inside the picture, for any cuts', () => {
    fc.assert(
      fc.property(anyPlan, (plan) => {
        const { clusters, width, height } = layPool({ plan, members: [], self: '' })
        for (const { stages } of clusters) {
          stages.forEach((stage, index) => {
            expect(stage.x + stage.width).toBeLessThanOrEqual(width)
            expect(stage.y + stage.height).toBeLessThanOrEqual(height)
            expect(stage.width).toBeGreaterThan(0)
            const next = stages[index + 1]
            if (next !== undefined) expect(next.x).toBeGreaterThanOrEqual(stage.x + stage.width)
          })
        }
      }),
    )
  })

  it('draws a ring between the rows of its members, mine marked', () => {
    const { rings } = layPool(healthy)
    expect(rings.map(({ label, mine, broken }) => [label, mine, broken])).toEqual([
      ['ring 1', false, false],
      ['ring 2', true, false],
      ['ring 3', true, false],
      ['ring 4', false, false],
    ])
    expect(new Set(rings.map(({ from, to }) => `${from}–${to}`))).toEqual(new Set(['86–122']))
  })

  it('marks who is lost, who waits and whose rings wait', () => {
    const { job } = lost
    const { clusters, rings } = layPool({ plan: job!.plan!, members: job!.members, self: peers.laptop })
    expect(clusters[0]?.stages.map(({ tone, short }) => [tone, short])).toEqual([
      ['waits', 'waits'],
      ['waits', 'waits'],
      ['lost', 'lost'],
    ])
    expect(clusters.map(({ pace }) => pace)).toEqual(['rests', '10.8'])
    expect(rings.every(({ broken }) => broken)).toBe(true)
  })

  it('names no slowest stage where two are about as slow', () => {
    const [first, second] = twoClusters.layout.clusters
    expect([slowestOf(first!.stages), slowestOf(second!.stages)]).toEqual([peers.attic, undefined])
  })

  it('says the same in sentences', () => {
    expect(poolInWords(healthy)).toBe(
      '2 clusters. ' +
        'Cluster A: attic-pc (layers 1–3, slowest here), then kitchen-laptop (this PC, layers 4–7, busy 68% · 900\u00a0MB), then office-thinkpad (layers 8–10, busy 55% · 716\u00a0MB). ' +
        'Cluster B: garage-tower (layers 1–5, busy 88% · 1.1\u00a0GB), then hall-imac (layers 6–10, busy 93% · 1.1\u00a0GB). ' +
        '4 rings join the PCs that hold the same layers; this PC is in rings 2, 3.',
    )
  })

  it('calls a PC whose name nobody told by the end of its key', () => {
    expect(nameOf(peers.attic, [])).toBe('PC 6dhs3')
  })

  it('names only who stands out where there are many, and points to the list', () => {
    const { job, self } = many
    expect(poolInWords({ plan: job!.plan!, members: job!.members, self })).toBe(
      '12 clusters. 64 PCs; the list below names each. This PC holds layers 16–19 in Cluster E. Lost: pc-8-2. ' +
        '17 rings join the PCs that hold the same layers; this PC is in rings 12, 13, 14.',
    )
  })

  it('cuts a text that does not fit with an ellipsis', () => {
    expect([fit('short', 100, 12), fit('a much longer text', 72, 12), fit('kitchen', 20, 12)]).toEqual([
      'short',
      'a much lo…',
      '',
    ])
  })

  it('cuts between whole characters and gives pictographs their width', () => {
    expect([fit('👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦', 46, 12), fit('家のパソコン', 46, 12)]).toEqual(['👩‍👩‍👧‍👦👩‍👩‍👧‍👦…', '家の…'])
  })
})

describe('names that other people chose', () => {
  it('turn no text around them', () => {
    expect(['attic-pc', '\u202enihtyna', 'חלון', 'a\u2069b'].map(shownName)).toEqual([
      'attic-pc',
      'nihtyna',
      '\u2068חלון\u2069',
      'ab',
    ])
  })

  it('are made safe in the agent’s sentences, too', () => {
    const { job } = names
    const turned = job!.members
      .map(({ displayName }) => displayName)
      .find((name) => name.startsWith('\u202e'))!
    expect(withShownNames({ ...job!, text: `waiting for ${turned} to come back` }).text).toBe(
      'waiting for gnihtyna to come back',
    )
  })
})
