import { describe, expect, it } from 'vitest'
import { checkGraph } from '../../../main/core/model/check-graph.ts'
import { InvalidInputError } from '../../../shared/errors.ts'
import { layoutOfGraph } from '../../../shared/model/layout.ts'
import { elementCount } from '../../../shared/tensor.ts'
import { preset, presetNames } from './graphs.ts'

const dense = (name: string, units: number) => ({ type: 'dense', name, units })
const classifier = {
  format: 'rookery-model/1',
  name: 'model',
  task: 'classify',
  input: { type: 'values', shape: [4] },
  loss: { type: 'cross-entropy' },
  layers: [dense('hidden', 8), { type: 'relu', name: 'relu' }, dense('classes', 3)],
}
const embedding = { type: 'token-embedding', name: 'tokens', vocabulary: 11, width: 8 }
const attention = { type: 'attention', name: 'look', heads: 2, causal: true }
const writer = {
  ...classifier,
  task: 'next-token',
  input: { type: 'tokens', length: 6, vocabulary: 11 },
  layers: [embedding, { type: 'residual', name: 'block', body: [attention] }, dense('vocabulary', 11)],
}

/** What the gate says to a graph. */
function refusal(raw: unknown): string {
  try {
    checkGraph(raw)
  } catch (thrown) {
    if (thrown instanceof InvalidInputError) return thrown.message
    throw thrown
  }
  return 'accepted'
}

describe('a model graph', () => {
  it('is accepted with its defaults filled in', () => {
    expect(checkGraph(classifier).layers[0]).toEqual({
      ...dense('hidden', 8),
      bias: true,
      initializer: { type: 'kaiming' },
    })
    expect(refusal(writer)).toBe('accepted')
  })

  it.each([
    [
      { ...classifier, layers: [dense('one', 3), { type: 'dens', name: 'two', units: 3 }] },
      'model: layer "two": it has the unknown type "dens"',
    ],
    [
      {
        ...classifier,
        layers: [{ type: 'residual', name: 'block', body: [{ type: 'dense', name: 'wide', units: 0.5 }] }],
      },
      /^model: layer "block\/body\/wide": units: .*expected int/,
    ],
    [{ ...classifier, layers: [{ name: 'one' }] }, 'model: layer "one": it needs a "type"'],
    [{ ...classifier, layers: [{ type: 'relu' }] }, /^model: layer "number 1": name: /],
    [
      { ...classifier, layers: [{ ...dense('one', 3), unit: 4 }] },
      /^model: layer "one": Unrecognized key: "unit"/,
    ],
    [{ ...classifier, task: 'guess' }, /^model: task: /],
    [null, /^model: Invalid input: expected object/],
    [
      { ...classifier, layers: [dense('same', 3), dense('same', 3)] },
      'layer "same" has the name of another layer beside it; give each its own',
    ],
    [
      { ...classifier, layers: [{ type: 'residual', name: 'r', body: [dense('d', 4), dense('d', 4)] }] },
      'layer "r/body/d" has the name of another layer beside it; give each its own',
    ],
    [
      { ...classifier, layers: [{ type: 'conv2d', name: 'conv', filters: 2, kernel: 3 }] },
      'layer "conv" gets a sample of shape [4], but needs an image [height, width, channels]',
    ],
    [
      { ...classifier, layers: [{ type: 'residual', name: 'r', body: [dense('d', 5)] }] },
      /^layer "r" .* needs body and shortcut of one shape/,
    ],
    [
      { ...classifier, layers: [{ type: 'relu', name: 'r' }] },
      'model "model" has no layer with parameters to train',
    ],
    [
      { ...classifier, loss: { type: 'mean-squared-error' } },
      'model "model": task classify needs the loss cross-entropy',
    ],
    [{ ...classifier, task: 'regress' }, 'model "model": task regress needs the loss mean-squared-error'],
    [
      { ...classifier, layers: [dense('one', 1)] },
      /^layer "one" makes \[1\] of a sample, but task classify needs/,
    ],
    [
      { ...classifier, input: { type: 'values', shape: [2, 4] } },
      /^layer "classes" makes \[2, 3\] of a sample, but task classify needs/,
    ],
    [{ ...classifier, task: 'next-token' }, 'model "model": task next-token needs tokens as input'],
    [
      { ...writer, layers: [embedding, dense('vocabulary', 10)] },
      'layer "vocabulary" makes [6, 10] of a sample, but task next-token needs [6, 11 or more]: a number for each token at each position',
    ],
    [
      { ...writer, layers: [{ ...embedding, vocabulary: 10 }, dense('vocabulary', 11)] },
      'layer "tokens" knows 10 tokens, but the input has 11',
    ],
    [
      { ...writer, layers: [dense('vocabulary', 11)] },
      'layer "vocabulary" gets token ids; the first layer must be a token-embedding',
    ],
    [
      { ...classifier, layers: [embedding, dense('classes', 3)] },
      /^layer "tokens" is a token-embedding; only the first/,
    ],
    [
      { ...writer, layers: [embedding, { ...attention, causal: false }, dense('vocabulary', 11)] },
      /^layer "look" would see the tokens it is to guess/,
    ],
    [
      { ...writer, layers: [embedding, { ...attention, heads: 3 }, dense('vocabulary', 11)] },
      /^layer "look" .* needs a width that divides into 3 heads/,
    ],
    [
      { ...classifier, input: { type: 'values', shape: [65_536] }, layers: [dense('wide', 65_536)] },
      /^layer "wide" needs 4295032832 parameters/,
    ],
  ])('is refused in one sentence that names the fault (%#)', (graph, sentence) => {
    if (typeof sentence === 'string') expect(refusal(graph)).toBe(sentence)
    else expect(refusal(graph)).toMatch(sentence)
  })

  it('is refused before anything recurses when it nests a hundred thousand deep', () => {
    let layer: unknown = { type: 'relu', name: 'deepest' }
    for (let depth = 0; depth < 100_000; depth++) layer = { type: 'residual', name: 'r', body: [layer] }
    expect(refusal({ ...classifier, layers: [layer] })).toMatch(
      /^layer "r\/body\/.*" is nested more than 4 deep$/,
    )
  })

  it('is refused when nested runs hold more layers than any model has', () => {
    const body = Array.from({ length: 30 }, (_, index) => ({ type: 'relu', name: `n-${index}` }))
    const layers = Array.from({ length: 1000 }, (_, index) => ({
      type: 'residual',
      name: `r-${index}`,
      body,
    }))
    expect(refusal({ ...classifier, layers })).toBe('model: it has more than 20000 layers')
  })
})

describe('the presets that ship', () => {
  it('are valid models of the sizes their names promise', () => {
    const sizes = presetNames.map((name) => {
      const graph = preset(name)
      const layouts = layoutOfGraph(graph)
      const specs = layouts.flatMap((layout) => layout.parameters).filter((spec) => spec.trained)
      const trained = specs.reduce((sum, spec) => sum + elementCount(spec.shape), 0)
      return [graph.name, graph.task, layouts.at(-1)?.outputShape, trained]
    })
    expect(sizes).toEqual([
      ['digits-mlp', 'classify', [10], 21_386],
      ['digits-cnn', 'classify', [10], 15_418],
      // torchvision's CIFAR variant (3×3 stem, no max-pool, 10 classes) has as many
      ['resnet18', 'classify', [10], 11_173_962],
      ['gpt-mini', 'next-token', [64, 256], 867_072],
      ['bert-mini', 'masked-token', [64, 257], 867_328],
    ])
  })
})
