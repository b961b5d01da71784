/** Dropout: what is dropped is a function of the micro-batch's seed and the layer's path, nothing else. */
import * as tf from '@tensorflow/tfjs'
import { beforeAll, describe, expect, it } from 'vitest'
import { openBackend } from '../../../../main/edge/engine/tfjs/backends.ts'
import { runLayers } from '../../../../main/edge/engine/tfjs/layers/run.ts'
import { type Layer, layer } from '../../../../shared/model/layers.ts'

const rate = 0.25
const dropout = (name: string, share = rate): Layer => layer.parse({ type: 'dropout', name, rate: share })

/** Output and input gradient of dropout on ones. */
function drop(layers: readonly Layer[], dropoutSeed: number, training = true) {
  const x = tf.ones([40, 50])
  const { value, grads } = tf.engine().gradients(() => {
    // Evaluation returns its input, which a gradient needs as an own tensor.
    return tf.clone(runLayers(layers, new Map(), x, { training, dropoutSeed }))
  }, [x])
  const found = { output: Array.from(value.dataSync()), gradient: Array.from(grads[0]!.dataSync()) }
  tf.dispose([x, value, ...grads])
  return found
}

describe.each(['cpu', 'wasm'] as const)('dropout on %s', (backend) => {
  beforeAll(() => openBackend(backend))

  it('drops the same elements for the same seed, and passes gradient through the same', () => {
    const first = drop([dropout('d')], 7)
    expect(drop([dropout('d')], 7)).toEqual(first)
    expect(first.gradient).toEqual(first.output)
  })

  it('drops others for another seed and for another layer', () => {
    const first = drop([dropout('d')], 7).output
    expect(drop([dropout('d')], 8).output).not.toEqual(first)
    expect(drop([dropout('e')], 7).output).not.toEqual(first)
  })

  it('drops about its share and scales the rest so that the mean stays', () => {
    const { output } = drop([dropout('d')], 3)
    const dropped = output.filter((value) => value === 0).length / output.length
    expect(Math.abs(dropped - rate)).toBeLessThan(0.04) // 4 standard deviations of 2000 draws
    expect(new Set(output)).toEqual(new Set([0, Math.fround(1 / (1 - rate))]))
  })

  it('does nothing in evaluation, and nothing at rate 0', () => {
    const ones = new Array<number>(2000).fill(1)
    expect(drop([dropout('d')], 7, false).output).toEqual(ones)
    expect(drop([dropout('d', 0)], 7).output).toEqual(ones)
  })

  it('leaves no tensor behind', () => {
    const before = tf.memory().numTensors
    drop([dropout('d')], 7)
    expect(tf.memory().numTensors).toBe(before)
  })
})

it('drops the same elements on every backend', async () => {
  await openBackend('cpu')
  const onCpu = drop([dropout('d')], 11)
  await openBackend('wasm')
  expect(drop([dropout('d')], 11)).toEqual(onCpu)
})
