/** The engine that a backend's name stands for, in a thread of its own. */
import { startEngineThread } from '../edge/engine/tfjs/client.ts'
import { startWasmEngineThread } from '../edge/engine/wasm/client.ts'
import type { Settings } from '../../shared/settings.ts'
import type { EngineThread } from './agent-parts.ts'

/** @throws InvalidInputError when the backend does not open; EngineDiedError when the thread cannot start */
export function startEngine(backend: Settings['engine']['backend']): Promise<EngineThread> {
  // One thread: several agents may share a PC, and a second thread paid for itself only where a core was free.
  if (backend === 'kernels') return startWasmEngineThread({ kernels: 'auto', threads: 1 })
  return startEngineThread({ backend })
}
