/** What every engine on TensorFlow.js must show besides the contract: PyTorch's layers, and our own kernels' steps. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BackendName } from '../../../main/edge/engine/tfjs/backend-names.ts'
import { startEngineThread } from '../../../main/edge/engine/tfjs/client.ts'
import { startWasmEngineThread } from '../../../main/edge/engine/wasm/client.ts'
import type { EngineThread } from '../../../main/edge/engine/protocol.ts'
import { differenceOf, stepOf } from '../../measures/preset-step.ts'
import { smallPresets } from '../../measures/small-presets.ts'
import { runCaseOn } from './layers/case-on-engine.ts'
import { expectedNumbers, referenceCases, relativeError } from './layers/reference-cases.ts'

/** Single precision against double precision, small tensors. */
const tolerance = 5e-6
/** Of a whole step: sums of thousands of products in another order. */
const stepTolerance = 1e-4

const presets = await smallPresets()

export function agreementOf(backend: BackendName): void {
  describe(`an engine on ${backend}`, () => {
    let engine: EngineThread
    let kernels: EngineThread
    beforeAll(async () => {
      engine = await startEngineThread({ backend })
      kernels = await startWasmEngineThread({ kernels: 'narrow', threads: 1 })
    })
    afterAll(() => Promise.all([engine.stop(), kernels.stop()]))

    it.each(referenceCases.map((one) => [one.name, one] as const))(
      'agrees with PyTorch: %s',
      async (_name, one) => {
        const found = await runCaseOn(engine, one)
        for (const [name, numbers] of expectedNumbers(one)) {
          if (!one.training && name !== 'output') continue
          expect(relativeError(found.get(name)!, numbers), name).toBeLessThan(tolerance)
        }
      },
    )

    it.each(presets.map((graph) => [graph.name, graph] as const))(
      'takes the step that our own kernels take: %s, made small',
      async (_name, graph) => {
        const step = await stepOf(engine, graph, 2)
        expect(step.gradient.some((value) => value !== 0)).toBe(true)
        expect(differenceOf(step, await stepOf(kernels, graph, 2))).toBeLessThan(stepTolerance)
      },
    )
  })
}
