/** TensorFlow's own library keeps the contract of every engine and agrees with PyTorch and with our own kernels. */
import { describe, it } from 'vitest'
import { openBackend } from '../../../../main/edge/engine/tfjs/backends.ts'
import { startEngineThread } from '../../../../main/edge/engine/tfjs/client.ts'
import { probeBackend } from '../../../../main/edge/engine/tfjs/probe.ts'
import type { EngineThread } from '../../../../main/edge/engine/protocol.ts'
import { stageEngineContract } from '../../../contracts/stage-engine.ts'
import { agreementOf } from '../agreement.ts'

for (const backend of ['node', 'node-gpu'] as const) {
  const { loaded, reason } = await probeBackend(backend)
  if (!loaded) {
    describe.skip(`tfjs-${backend}`, () => { it(`is not here: ${reason}`, () => undefined) }) // prettier-ignore
    continue
  }
  agreementOf(backend)
  stageEngineContract({
    name: `${backend}, in a thread of its own`,
    open: () => startEngineThread({ backend }),
    close: (engine) => (engine as EngineThread).stop(),
    prepareOracle: () => openBackend('cpu'),
  })
}
