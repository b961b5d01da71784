/** Graphs to test with: the presets that ship, and small ones of every kind of layer. */
import { readFileSync } from 'node:fs'
import { checkGraph } from '../../../main/core/model/check-graph.ts'
import type { ModelGraph } from '../../../shared/model/graph.ts'

export const presetNames = ['digits-mlp', 'digits-cnn', 'resnet18', 'gpt-mini', 'bert-mini'] as const

/** A preset as its file holds it. */
export function presetFile(name: (typeof presetNames)[number]): unknown {
  const path = new URL(`../../../resources/models/${name}.json`, import.meta.url)
  return JSON.parse(readFileSync(path, 'utf8')) as unknown
}

export function preset(name: (typeof presetNames)[number]): ModelGraph {
  return checkGraph(presetFile(name))
}

/** A small image classifier with untrained state in several layers and a projection shortcut. */
export const smallImageGraph: ModelGraph = checkGraph({
  format: 'rookery-model/1',
  name: 'small',
  task: 'classify',
  input: { type: 'values', shape: [4, 4, 2] },
  loss: { type: 'cross-entropy' },
  layers: [
    { type: 'conv2d', name: 'conv', filters: 3, kernel: 3, bias: false },
    { type: 'batch-norm', name: 'norm' },
    {
      type: 'residual',
      name: 'block',
      body: [
        { type: 'conv2d', name: 'conv', filters: 4, kernel: 3, stride: 2 },
        { type: 'batch-norm', name: 'norm' },
        { type: 'relu', name: 'relu' },
      ],
      shortcut: [
        { type: 'average-pool', name: 'pool', size: 2 },
        { type: 'dense', name: 'widen', units: 4 },
      ],
    },
    { type: 'flatten', name: 'flatten' },
    { type: 'dense', name: 'hidden', units: 5 },
    { type: 'layer-norm', name: 'hidden-norm' },
    { type: 'gelu', name: 'gelu' },
    { type: 'dense', name: 'classes', units: 3 },
  ],
})
