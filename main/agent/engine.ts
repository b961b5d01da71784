/** The engine that a backend's name stands for, in a thread of its own. */
import { startEngineThread } from '../edge/engine/tfjs/client.ts'
import { startWasmEngineThread } from '../edge/engine/wasm/client.ts'
import { isInstalled } from '../edge/engine/tfjs/installed.ts'
import type { EngineThread } from './agent-parts.ts'
import { computingThreads } from './computing-threads.ts'
import { type Backend, EngineChoice } from './engine-choice.ts'

/**
 * May be faster than our kernels, where they are installed: only a measurement tells. WebGPU is taken by name alone: it
 * comes with every installation, was never measured on a real GPU, and a driver that breaks would take the agent along.
 */
export const accelerators = (['node-gpu', 'node'] as const).filter(isInstalled)
/** Our kernels, and what takes over where they fail: on the same processor it is never faster. */
export const onProcessor = ['kernels', 'wasm', 'cpu'] as const

/**
 * @param threads - `engine.threads` of the settings; our own kernels alone heed it
 * @throws InvalidInputError when the backend does not open; EngineDiedError when the thread cannot start
 */
export async function openEngine(backend: Backend, threads = 0): Promise<EngineThread> {
  if (backend !== 'kernels') return startEngineThread({ backend })
  return startWasmEngineThread({ kernels: 'auto', threads: await computingThreads(threads) })
}

/** The first engine on the processor that computes rightly: to answer, not to train for hours. @throws InvalidInputError */
export function startAnyEngine(): Promise<EngineThread> {
  return new EngineChoice({
    accelerators: [],
    onProcessor,
    open: (backend) => openEngine(backend),
    log: () => undefined,
  }).start()
}
