/**
 * TensorFlow.js on WebGPU agrees with PyTorch and with our own kernels; on a real GPU it keeps the whole contract, too.
 * Where there is none, SwiftShader imitates one (vitest.config.ts finds it): right, but minutes slow at the contract.
 */
import { describe, it } from 'vitest'
import { openBackend } from '../../../../main/edge/engine/tfjs/backends.ts'
import { startEngineThread } from '../../../../main/edge/engine/tfjs/client.ts'
import { probeBackend } from '../../../../main/edge/engine/tfjs/probe.ts'
import type { EngineThread } from '../../../../main/edge/engine/protocol.ts'
import { stageEngineContract } from '../../../contracts/stage-engine.ts'
import { agreementOf } from '../agreement.ts'

const { loaded, adapter, reason } = await probeBackend('webgpu')

if (!loaded)
  describe.skip('WebGPU', () => { it(`is not here: ${reason}`, () => undefined) }) // prettier-ignore
else {
  agreementOf('webgpu')
  if (adapter?.software === false)
    stageEngineContract({
      name: 'webgpu, in a thread of its own',
      open: () => startEngineThread({ backend: 'webgpu' }),
      close: (engine) => (engine as EngineThread).stop(),
      prepareOracle: () => openBackend('cpu'),
    })
  else describe.skip('the contract of a stage engine on WebGPU', () => { it(`takes minutes here. ${reason}`, () => undefined) }) // prettier-ignore
}
