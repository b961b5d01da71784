import { describe, expect, it } from 'vitest'
import { InvalidInputError } from '../../shared/errors.ts'
import { modelGraph, type ModelGraph } from '../../shared/model/graph.ts'
import { layer as layerSchema, layerBounds } from '../../shared/model/layers.ts'
import { layoutOfGraph, layoutOfLayer, type Shape, stateLayout } from '../../shared/model/layout.ts'

const layoutOf = (raw: unknown, shape: Shape) => layoutOfLayer(layerSchema.parse(raw), shape)
const image = [7, 5, 6]

describe('the shape after a layer', () => {
  it.each<[Record<string, unknown>, Shape, Shape]>([
    [{ type: 'dense', units: 4 }, [3, 2], [3, 4]],
    [{ type: 'conv2d', filters: 8, kernel: 3 }, image, [7, 5, 8]],
    [{ type: 'conv2d', filters: 8, kernel: 3, stride: 2 }, image, [4, 3, 8]],
    [{ type: 'conv2d', filters: 8, kernel: 3, padding: 'valid' }, image, [5, 3, 8]],
    [{ type: 'conv2d', filters: 8, kernel: 3, stride: 2, padding: 'valid' }, image, [3, 2, 8]],
    [{ type: 'conv2d', filters: 6, kernel: 3, groups: 6 }, image, image],
    [{ type: 'max-pool', size: 2 }, image, [3, 2, 6]],
    [{ type: 'average-pool', size: 3, stride: 1, padding: 'same' }, image, image],
    [{ type: 'global-average-pool' }, image, [6]],
    [{ type: 'batch-norm' }, image, image],
    [{ type: 'flatten' }, image, [210]],
    [{ type: 'token-embedding', vocabulary: 9, width: 4 }, [3], [3, 4]],
    [{ type: 'position-embedding' }, [3, 4], [3, 4]],
    [{ type: 'attention', heads: 2, causal: true }, [3, 4], [3, 4]],
    [{ type: 'residual', body: [{ type: 'dense', name: 'd', units: 4 }] }, [3, 4], [3, 4]],
  ])('of %o on %o is %o', (layer, before, after) => {
    expect(layoutOf({ name: 'it', ...layer }, before).outputShape).toEqual(after)
  })

  it.each<[Record<string, unknown>, Shape, RegExp]>([
    [{ type: 'conv2d', filters: 8, kernel: 3 }, [4], /needs an image/],
    [{ type: 'conv2d', filters: 8, kernel: 9, padding: 'valid' }, image, /at least 9 wide and high/],
    [{ type: 'conv2d', filters: 8, kernel: 3, groups: 4 }, image, /divide into 4 groups/],
    [{ type: 'attention', heads: 3, causal: true }, [3, 4], /divides into 3 heads/],
    [{ type: 'attention', heads: 1, causal: true }, [4], /needs a sequence/],
    [{ type: 'position-embedding' }, [4], /needs a sequence/],
    [{ type: 'token-embedding', vocabulary: 9, width: 4 }, [3, 4], /needs token ids/],
    [{ type: 'dense', units: 65_536 }, [65_536, 2], /smaller output than 2\^31/],
    [{ type: 'residual', body: [{ type: 'dense', name: 'd', units: 5 }] }, [3, 4], /one shape/],
  ])('of %o on %o is refused in a sentence that names the layer', (layer, before, sentence) => {
    const act = () => layoutOf({ name: 'it', ...layer }, before)
    expect(act).toThrow(InvalidInputError)
    expect(act).toThrow(sentence)
    expect(act).toThrow(/layer "it"/)
  })

  it('is refused beyond the deepest nesting', () => {
    let nested: unknown = { type: 'relu', name: 'it' }
    for (let depth = 0; depth <= layerBounds.depth; depth++)
      nested = { type: 'residual', name: 'it', body: [nested] }
    expect(() => layoutOf(nested, [2])).toThrow(/nested more than 4 deep/)
  })
})

describe('the parameters of a layer', () => {
  it('have names by path, shapes, and the deviation of their initializer', () => {
    const block = {
      type: 'residual',
      name: 'block',
      body: [
        { type: 'conv2d', name: 'conv', filters: 8, kernel: 3, groups: 2 },
        { type: 'batch-norm', name: 'norm' },
      ],
      shortcut: [{ type: 'dense', name: 'widen', units: 8, bias: false, initializer: { type: 'xavier' } }],
    }
    const { parameters } = layoutOf(block, image)
    expect(parameters).toEqual([
      // fan-in of a group: 3·3·3
      {
        name: 'block/body/conv/weight',
        shape: [3, 3, 3, 8],
        trained: true,
        initial: { type: 'normal', deviation: Math.sqrt(2 / 27) },
      },
      { name: 'block/body/conv/bias', shape: [8], trained: true, initial: { type: 'constant', value: 0 } },
      { name: 'block/body/norm/scale', shape: [8], trained: true, initial: { type: 'constant', value: 1 } },
      { name: 'block/body/norm/shift', shape: [8], trained: true, initial: { type: 'constant', value: 0 } },
      {
        name: 'block/body/norm/running-mean',
        shape: [8],
        trained: false,
        initial: { type: 'constant', value: 0 },
      },
      {
        name: 'block/body/norm/running-variance',
        shape: [8],
        trained: false,
        initial: { type: 'constant', value: 1 },
      },
      {
        name: 'block/shortcut/widen/weight',
        shape: [6, 8],
        trained: true,
        initial: { type: 'normal', deviation: Math.sqrt(2 / 14) },
      },
    ])
  })
})

describe('the numbers of a run of layers', () => {
  const graph: ModelGraph = modelGraph.parse({
    format: 'rookery-model/1',
    name: 'm',
    task: 'classify',
    input: { type: 'values', shape: [2] },
    loss: { type: 'cross-entropy' },
    layers: [
      { type: 'dense', name: 'a', units: 3 },
      { type: 'batch-norm', name: 'b' },
      { type: 'dense', name: 'c', units: 2, bias: false },
    ],
  })

  it('are trained parameters layer by layer, then all that is not trained', () => {
    const { trained, untrained, trainedLength, length } = stateLayout(layoutOfGraph(graph), [0, 3])
    const places = [...trained, ...untrained].map(({ name, offset, length: count }) => [name, offset, count])
    expect(places).toEqual([
      ['a/weight', 0, 6],
      ['a/bias', 6, 3],
      ['b/scale', 9, 3],
      ['b/shift', 12, 3],
      ['c/weight', 15, 6],
      ['b/running-mean', 21, 3],
      ['b/running-variance', 24, 3],
    ])
    expect([trainedLength, length]).toEqual([21, 27])
  })

  it('are none for no layers', () => {
    expect(stateLayout(layoutOfGraph(graph), [1, 1])).toEqual({
      trained: [],
      untrained: [],
      trainedLength: 0,
      length: 0,
    })
  })
})
