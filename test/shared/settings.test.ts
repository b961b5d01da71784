import { describe, expect, it } from 'vitest'
import { InvalidInputError } from '../../shared/errors.ts'
import { readSettings } from '../../shared/settings.ts'

const defaults = {
  version: 2,
  displayName: '',
  limits: {
    memoryBytes: 0,
    computeShare: 1,
    uploadBytesPerSecond: 0,
    downloadBytesPerSecond: 0,
    trainOnBattery: false,
    idleMinutes: 0,
    pausePrograms: [],
    networkIsMetered: false,
  },
  network: { port: 0, address: '0.0.0.0', localDiscovery: true },
  engine: { backend: 'auto', threads: 0 },
}

describe('settings', () => {
  it('are these names and defaults: a change here is a change for every user', () => {
    expect(readSettings({})).toEqual(defaults)
    expect(readSettings(undefined)).toEqual(defaults)
  })

  it('of a file without a version are taken over', () => {
    expect(readSettings({ displayName: 'attic', network: { port: 4001 } })).toEqual({
      ...defaults,
      displayName: 'attic',
      network: { ...defaults.network, port: 4001 },
    })
  })

  it('of version 1 keep what they say; what is new takes its default', () => {
    expect(readSettings({ version: 1, limits: { memoryBytes: 1e9 } })).toEqual({
      ...defaults,
      limits: { ...defaults.limits, memoryBytes: 1e9 },
    })
  })

  it.each([
    [{ network: { port: 70_000 } }, /^settings: network\.port: /],
    [{ limits: { memoryBytes: -1 } }, /^settings: limits\.memoryBytes: /],
    [{ engine: { backend: 'cuda' } }, /^settings: engine\.backend: /],
    [{ engine: { threads: -1 } }, /^settings: engine\.threads: /],
    [{ engine: { threads: 65 } }, /^settings: engine\.threads: /],
    [{ colour: 'red' }, /^settings: Unrecognized key: "colour"/],
    [{ version: 3 }, /^settings: version: /],
  ])('that are wrong are refused with the field in the sentence (%#)', (raw, sentence) => {
    expect(() => readSettings(raw)).toThrow(InvalidInputError)
    expect(() => readSettings(raw)).toThrow(sentence)
  })
})
