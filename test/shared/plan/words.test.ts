import { describe, expect, it } from 'vitest'
import { clusterName, layersInWords } from '../../../shared/plan/words.ts'

describe('clusters and layers in words', () => {
  it('are letters, then numbers, and ranges of which both ends are meant', () => {
    expect([0, 25, 26].map(clusterName)).toEqual(['Cluster A', 'Cluster Z', 'Cluster 27'])
    expect([layersInWords([0, 4]), layersInWords([4, 5])]).toEqual(['layers 1–4', 'layer 5'])
  })
})
