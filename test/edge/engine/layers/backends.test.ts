/** Opening tensor backends on this machine. */
import * as tf from '@tensorflow/tfjs'
import { describe, expect, it } from 'vitest'
import { backendNames } from '../../../../main/edge/engine/tfjs/backend-names.ts'
import { openBackend, tryBackend } from '../../../../main/edge/engine/tfjs/backends.ts'
import { probeBackends } from '../../../../main/edge/engine/tfjs/probe.ts'
import { InvalidInputError } from '../../../../shared/errors.ts'

describe('tensor backends', () => {
  it('can be tried before any is set, and leave the handlers of the process alone', async () => {
    const handlers = () => [process.listeners('uncaughtException'), process.listeners('unhandledRejection')]
    const before = handlers()
    for (const name of backendNames) await tryBackend(name)
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

  it('are probed with a reason each, in threads of their own', async () => {
    await openBackend('cpu')
    const probes = await probeBackends()
    expect(tf.getBackend()).toBe('cpu')
    expect(probes.map(({ name }) => name)).toEqual(['node-gpu', 'node', 'webgpu', 'wasm', 'cpu'])
    for (const { reason } of probes) expect(reason).toMatch(/^It .*\.$/)
    const loaded = probes.filter((probe) => probe.loaded).map(({ name }) => name)
    expect(loaded).toEqual(expect.arrayContaining(['wasm', 'cpu']))
    const adapters = probes.filter(({ adapter }) => adapter !== undefined).map(({ name }) => name)
    expect(adapters).toEqual(loaded.filter((name) => name === 'webgpu'))
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
