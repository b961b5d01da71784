/** Opening tensor backends on this machine. */
import * as tf from '@tensorflow/tfjs'
import { describe, expect, it } from 'vitest'
import { openBackend, probeBackends } from '../../../../main/edge/engine/tfjs/backends.ts'
import { InvalidInputError } from '../../../../shared/errors.ts'

describe('tensor backends', () => {
  it('can be probed before any is set, and leave the handlers of the process alone', async () => {
    const handlers = () => [process.listeners('uncaughtException'), process.listeners('unhandledRejection')]
    const before = handlers()
    await probeBackends()
    expect(handlers()).toEqual(before)
  })

  it('open by name, and auto takes one that loads', async () => {
    expect(await openBackend('cpu')).toBe('cpu')
    expect(tf.getBackend()).toBe('cpu')
    expect(await openBackend('wasm')).toBe('wasm')
    expect(tf.getBackend()).toBe('wasm')
    const loaded = (await probeBackends()).filter((probe) => probe.loaded).map((probe) => probe.name)
    expect(loaded).toContain(await openBackend('auto'))
  })

  it('are probed with a reason each, and the one that was set stays set', async () => {
    await openBackend('cpu')
    const probes = await probeBackends()
    expect(tf.getBackend()).toBe('cpu')
    expect(probes.map(({ name }) => name)).toEqual(['node-gpu', 'node', 'webgpu', 'wasm', 'cpu'])
    for (const { reason } of probes) expect(reason).toMatch(/^It .*\.$/)
    expect(probes.filter(({ name }) => name === 'wasm' || name === 'cpu').every(({ loaded }) => loaded)).toBe(
      true,
    )
  })

  it('that do not load are refused in a sentence and leave the old one set', async () => {
    await openBackend('wasm')
    for (const { name, loaded } of await probeBackends()) {
      if (loaded) continue
      await expect(openBackend(name)).rejects.toThrow(InvalidInputError)
      expect(tf.getBackend()).toBe('wasm')
    }
  })
})
