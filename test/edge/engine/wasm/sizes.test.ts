/** Sizes at and beyond the edges of tiles, panels and blocks, against TensorFlow.js's plain backend. */
import { beforeAll, describe, expect, it } from 'vitest'
import { openBackend } from '../../../../main/edge/engine/tfjs/backends.ts'
import { layer } from '../../../../shared/model/layers.ts'
import { layoutOfLayer } from '../../../../shared/model/layout.ts'
import { valuesOf } from '../../../contracts/stage-engine-models.ts'
import { type ReferenceCase, relativeError, runCase as runOnTfjs } from '../layers/reference-cases.ts'
import { runCase } from './run-case.ts'

const tolerance = 1e-5
const numbers = (shape: readonly number[], seed: number) => ({
  shape,
  values: Array.from(valuesOf(shape, seed).data),
})

/** A case of one layer with drawn numbers; only what goes in is filled. */
function caseOf(raw: object, inputShape: readonly number[]): ReferenceCase {
  const one = layer.parse({ name: 'it', ...raw })
  const { outputShape, parameters } = layoutOfLayer(one, inputShape.slice(1))
  const drawn = (specs: typeof parameters) =>
    Object.fromEntries(specs.map(({ name, shape }, index) => [name, numbers(shape, index + 2)] as const))
  const nothing = { shape: [], values: [] }
  return {
    name: JSON.stringify(raw),
    layers: [one],
    training: true,
    input: { ...numbers(inputShape, 1), dtype: 'float32' },
    parameters: drawn(parameters),
    outputGradient: numbers([inputShape[0]!, ...outputShape], 9),
    output: nothing,
    inputGradient: nothing,
    parameterGradients: drawn(parameters.filter(({ trained }) => trained)),
    stateAfter: drawn(parameters.filter(({ trained }) => !trained)),
  }
}

const conv = { type: 'conv2d', bias: true }
const cases: readonly ReferenceCase[] = [
  caseOf({ type: 'dense', units: 1 }, [1, 1]),
  caseOf({ type: 'dense', units: 17 }, [13, 257]),
  caseOf({ type: 'dense', units: 2100 }, [7, 300]),
  caseOf({ type: 'dense', units: 40 }, [193, 513]),
  caseOf({ ...conv, filters: 19, kernel: 3 }, [2, 5, 7, 300]),
  caseOf({ ...conv, filters: 300, kernel: 3, stride: 2 }, [2, 7, 5, 4]),
  caseOf({ ...conv, filters: 5, kernel: 5, stride: 3, padding: 'valid' }, [1, 13, 11, 6]),
  caseOf({ ...conv, filters: 33, kernel: 1, stride: 2 }, [2, 6, 6, 13]),
  caseOf({ ...conv, filters: 8, kernel: 2, stride: 4 }, [1, 9, 9, 3]),
  caseOf({ ...conv, filters: 6, kernel: 3, groups: 3 }, [2, 6, 5, 9]),
  caseOf({ ...conv, filters: 14, kernel: 3, groups: 7, stride: 2 }, [2, 6, 5, 7]),
  caseOf({ type: 'attention', heads: 3, causal: false }, [2, 37, 33]),
  caseOf({ type: 'attention', heads: 1, causal: true }, [1, 300, 4]),
  caseOf({ type: 'attention', heads: 2, causal: true }, [2, 32, 24]),
  caseOf({ type: 'attention', heads: 2, causal: true }, [1, 97, 10]),
  caseOf({ type: 'attention', heads: 1, causal: true }, [2, 1, 3]),
  caseOf({ type: 'layer-norm' }, [5, 1]),
  caseOf({ type: 'layer-norm' }, [150, 53]),
  caseOf({ type: 'batch-norm' }, [150, 13]),
]

describe.each(['narrow', 'wide'] as const)('sizes that fit no tile on %s kernels', (width) => {
  beforeAll(() => openBackend('cpu'))

  it.each(cases.map((one) => [`${one.name} of [${one.input.shape.join()}]`, one] as const))(
    'agree with TensorFlow.js: %s',
    (_name, one) => {
      const found = runCase(one, width)
      for (const [name, wanted] of runOnTfjs(one))
        expect(relativeError(found.get(name)!, wanted), name).toBeLessThan(tolerance)
    },
  )
})
