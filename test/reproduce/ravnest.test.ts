import { describe, expect, it } from 'vitest'
import { resolveModel } from '../../main/agent/models.ts'
import { createRng } from '../../shared/random.ts'
import { clusterCount, cutReference, modelBytes, ourPlan, poolOf } from './ravnest/clusters.ts'
import { fitnessOf, referenceSearch } from './ravnest/fitness.ts'
import { savedBy } from './ravnest/memory.ts'

const peer = (id: string, memoryBytes: number, uploadBytesPerSecond: number) => ({
  ...{ id, memoryBytes, uploadBytesPerSecond },
  ...{ flopsPerSecond: 1, downloadBytesPerSecond: 1 },
})

describe('the reference’s fitness', () => {
  const pool = { peers: [peer('a', 7e9, 2e9), peer('b', 4e9, 1e9), peer('c', 1e9, 1e9)], links: [], defaultLatencySeconds: 0 } // prettier-ignore
  const settings = { modelBytes: 6e9, clusters: 2 }

  it('is a hundred times the missing memory, and the difference of floor(memory / bandwidth)', () => {
    expect(fitnessOf(pool, Uint8Array.of(0, 1, 1), settings)).toEqual({
      missingBytes: 1e9,
      imbalance: 2,
      value: 102,
    })
  })

  it('is least where its search ends, of all ways to group a few', () => {
    const all = Array.from({ length: 8 }, (_, way) => Uint8Array.of(way & 1, (way >> 1) & 1, (way >> 2) & 1))
    const least = Math.min(...all.map((clusters) => fitnessOf(pool, clusters, settings).value))
    const found = referenceSearch(pool, settings, createRng(1))
    expect(fitnessOf(pool, found, settings).value).toBe(least)
  })
})

describe('our clusters', () => {
  it('all hold the model, and train faster than those of the reference', () => {
    const pool = poolOf(1)
    const ours = ourPlan(pool)
    expect(ours.clusters).toHaveLength(clusterCount)
    for (const { stages } of ours.clusters) {
      for (const { peer: id, memoryBytes } of stages)
        expect(memoryBytes).toBeLessThanOrEqual(pool.peers.find((one) => one.id === id)?.memoryBytes ?? 0)
    }
    const assigned = referenceSearch(pool, { modelBytes, clusters: clusterCount }, createRng(1))
    expect(ours.samplesPerSecond).toBeGreaterThan(cutReference(pool, assigned).samplesPerSecond)
  })
})

describe('memory of a stage', () => {
  it('falls with every stage, and by more than the paper’s shares', async () => {
    const graph = await resolveModel('gpt-mini')
    const saved = [await savedBy(graph, 2), await savedBy(graph, 3)]
    expect(saved[0]).toBeGreaterThan(0.42)
    expect(saved[1]).toBeGreaterThan(0.56)
    expect(await savedBy(graph, 1)).toBe(0)
  })
})
