/** The engine on our own kernels keeps the contract of every engine, wide and narrow, and in its own thread. */
import { openBackend } from '../../../../main/edge/engine/tfjs/backends.ts'
import type { EngineThread } from '../../../../main/edge/engine/protocol.ts'
import { startWasmEngineThread } from '../../../../main/edge/engine/wasm/client.ts'
import { createWasmEngine } from '../../../../main/edge/engine/wasm/stage-engine.ts'
import { stageEngineContract } from '../../../contracts/stage-engine.ts'

const prepareOracle = () => openBackend('cpu')

for (const kernels of ['narrow', 'wide'] as const)
  stageEngineContract({
    name: `${kernels} kernels, in this thread`,
    open: () => Promise.resolve(createWasmEngine({ kernels, threads: 1 })),
    close: (engine) => engine.unload(),
    prepareOracle,
  })

stageEngineContract({
  name: 'kernels of its choice, in a thread of its own with two helpers',
  open: () => startWasmEngineThread({ kernels: 'auto', threads: 3 }),
  close: (engine) => (engine as EngineThread).stop(),
  prepareOracle,
})
