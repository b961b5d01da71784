/** Which engine a PC takes: real kernels, some of them made wrong, slow or mortal. */
import { describe, expect, it } from 'vitest'
import type { EngineThread } from '../../main/agent/agent-parts.ts'
import { type Backend, EngineChoice, type EngineChoicePorts } from '../../main/agent/engine-choice.ts'
import { whyWrong } from '../../main/core/job/known-answer.ts'
import { createTfjsEngine } from '../../main/edge/engine/tfjs/stage-engine.ts'
import { createWasmEngine } from '../../main/edge/engine/wasm/stage-engine.ts'
import { InvariantError, PoolError } from '../../shared/errors.ts'
import { minute } from '../../shared/units.ts'

class DeviceGoneError extends PoolError {
  readonly kind = 'bug'
  readonly code = 'device-lost'
}

type Fault = 'opens not' | 'computes wrongly' | 'dies' | undefined

/** Engines by name, with what is wrong with each; speeds by name. */
function pc(faults: Partial<Record<Backend, Fault>>, speeds: Partial<Record<Backend, number>>) {
  const seen = { opened: [] as Backend[], open: 0, said: [] as string[], clock: { wall: 1e12, awake: 0 } }
  const open = (backend: Backend): Promise<EngineThread> => {
    seen.opened.push(backend)
    const fault = faults[backend]
    if (fault === 'opens not') throw new InvariantError('no driver')
    seen.open++
    const engine = createWasmEngine({ kernels: 'narrow', threads: 1 })
    return Promise.resolve({
      ...engine,
      backend,
      lost: new Promise<never>(() => undefined),
      async forwardLoss(request) {
        const { tally, inputGradient } = await engine.forwardLoss(request)
        const lossSum = tally.lossSum * (fault === 'computes wrongly' ? 1.01 : 1)
        return { tally: { ...tally, lossSum }, inputGradient }
      },
      memory: () =>
        fault === 'dies' ? Promise.reject(new DeviceGoneError('the driver was reset')) : engine.memory(),
      stop() {
        seen.open--
        return Promise.resolve()
      },
    })
  }
  const ports: EngineChoicePorts = {
    accelerators: (['node', 'webgpu'] as const).filter((name) => name in faults || name in speeds),
    onProcessor: ['kernels', 'wasm'],
    open,
    speedOf: ({ backend }) => Promise.resolve(speeds[backend as Backend] ?? 0),
    log: (_level, text) => seen.said.push(text),
    wallMs: () => seen.clock.wall,
    awakeMs: () => seen.clock.awake,
  }
  return { seen, faults, choice: new EngineChoice(ports) }
}

describe('an engine that is chosen', () => {
  it('is our own where no accelerator is installed, and nothing else is opened or measured', async () => {
    const { seen, choice } = pc({}, {})
    expect((await choice.start()).backend).toBe('kernels')
    expect(seen).toMatchObject({ opened: ['kernels'], open: 1, said: [] })
  })

  it('is the fastest of those that compute rightly; the others are closed, and it is measured once', async () => {
    const { seen, choice } = pc({}, { node: 3, webgpu: 9, kernels: 5 })
    expect((await choice.start()).backend).toBe('webgpu')
    expect((await choice.start()).backend).toBe('webgpu')
    expect(seen.opened).toEqual(['node', 'webgpu', 'kernels', 'webgpu', 'webgpu'])
    expect(seen.open).toBe(2)
  })

  it('is never one that computes wrongly or does not start, and the reason is told', async () => {
    const { seen, choice } = pc(
      { node: 'opens not', webgpu: 'computes wrongly', kernels: 'computes wrongly' },
      { node: 3, webgpu: 9, kernels: 5 },
    )
    expect((await choice.start()).backend).toBe('wasm')
    expect(seen.open).toBe(1)
    expect(seen.said).toEqual([
      'the engine node is passed over: no driver',
      'the engine webgpu is passed over: It computes wrongly: two training steps of known-image give a loss of 0.53913, not 0.53379.',
      'the engine kernels is passed over: It computes wrongly: two training steps of known-image give a loss of 0.53913, not 0.53379.',
    ])
  })

  it('is another after its device was lost, until the PC slept', async () => {
    const { seen, faults, choice } = pc({ webgpu: 'dies' }, { webgpu: 9, kernels: 5 })
    const engine = await choice.start()
    await expect(engine.memory()).rejects.toThrow('the driver was reset')
    expect((await choice.start()).backend).toBe('kernels')
    expect(seen.said).toEqual(['the engine webgpu is passed over: the driver was reset'])
    faults.webgpu = undefined
    seen.clock.wall += 10 * minute
    seen.clock.awake += 10 * minute
    expect((await choice.start()).backend).toBe('kernels')
    seen.clock.wall += 10 * minute
    expect((await choice.start()).backend).toBe('webgpu')
  })

  it('is asked again after a sleep, and ended when it then computes wrongly', async () => {
    const { seen, faults, choice } = pc({ webgpu: undefined }, { webgpu: 9, kernels: 5 })
    const engine = await choice.start()
    faults.webgpu = 'computes wrongly'
    seen.clock.wall += 10 * minute
    await engine.memory()
    await expect.poll(() => seen.open).toBe(0)
    expect((await choice.start()).backend).toBe('kernels')
  })

  it('is refused in one sentence where none computes rightly', async () => {
    const { choice } = pc({ kernels: 'computes wrongly', wasm: 'opens not' }, {})
    await expect(choice.start()).rejects.toThrow('no engine computes rightly on this PC')
  })
})

describe('the known answers', () => {
  it.each(['narrow', 'wide'] as const)('are what our %s kernels give', async (kernels) => {
    expect(await whyWrong(createWasmEngine({ kernels, threads: 1 }))).toBeUndefined()
  })

  it.each(['cpu', 'wasm'] as const)('are what TensorFlow.js gives on %s', async (backend) => {
    expect(await whyWrong(await createTfjsEngine({ backend }))).toBeUndefined()
  })
})
