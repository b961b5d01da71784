import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startCommand, type CommandEnd } from '../cli/command-run.ts'
import { digits, rookeryEntry } from './fleet.ts'
import { processesNaming } from './orphans.ts'

let folder = ''
let demo: CommandEnd
beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'rookery-e2e-')))
  demo = await rookery('demo', '--updates', '8')
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

const rookery = (...args: string[]): Promise<CommandEnd> =>
  startCommand([...args, '--json'], folder, rookeryEntry).ended

const result = ({ events }: CommandEnd): Record<string, unknown> => events().at(-1)!

/** What an object is made of: its keys, and the types of what is not an object. */
function shapeOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return typeof value
  if (Array.isArray(value)) return value.map(shapeOf)
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)]))
}

const quality = { loss: 'number', accuracy: 'number' }
const model = (): string => join(folder, 'rookery-demo-digits-cnn')

describe('rookery demo', () => {
  it('ends with the result that it promises, and with no process left over', async () => {
    expect({ code: demo.code, said: demo.code === 0 ? '' : demo.stderr }).toEqual({ code: 0, said: '' })
    const { clusters, ...rest } = result(demo)
    expect(shapeOf(rest)).toEqual({
      event: 'string',
      peers: 'number',
      updates: 'number',
      samples: 'number',
      validation: quality,
      baseline: quality,
      bytesSent: { activations: 'number', gradients: 'number', parameters: 'number', data: 'number' },
      peakTensorBytes: { single: 'number', perPeer: new Array(5).fill('number') },
      maxStaleness: 'number',
      model: 'string',
    })
    expect(rest).toMatchObject({ event: 'result', peers: 5, updates: 8, model: model() })
    const cut = clusters as [peer: string, from: number, to: number][][]
    expect(
      cut
        .flat()
        .map(([peer]) => peer)
        .sort(),
    ).toEqual([1, 2, 3, 4, 5].map((n) => `peer-${n}`))
    // Every cluster holds all 13 layers once, in order.
    for (const stages of cut)
      expect(stages.map(([, from]) => from)).toEqual([0, ...stages.map(([, , to]) => to)].slice(0, -1))
    expect(cut.map((stages) => stages.at(-1)![2])).toEqual([13, 13])
    expect(await processesNaming(folder)).toEqual([])
  })

  it('sends and holds what a pool must, and not much more than one PC alone', () => {
    const { bytesSent, peakTensorBytes, samples } = result(demo) as {
      readonly bytesSent: Readonly<Record<string, number>>
      readonly peakTensorBytes: { readonly single: number; readonly perPeer: readonly number[] }
      readonly samples: number
    }
    for (const bytes of Object.values(bytesSent)) expect(bytes).toBeGreaterThan(0)
    expect(samples).toBeGreaterThan(0)
    for (const bytes of peakTensorBytes.perPeer) {
      expect(bytes).toBeGreaterThan(0)
      // The demo's budgets have room for the results of several micro-batches in flight; one process has one.
      expect(bytes).toBeLessThan(1.5 * peakTensorBytes.single)
    }
  })

  it('leaves a model that `rookery evaluate` finds as good as it said', async () => {
    const evaluated = await rookery('evaluate', model(), '--data', digits)
    expect(evaluated.code).toBe(0)
    const { validation } = result(demo) as { readonly validation: { loss: number; accuracy: number } }
    const { event, samples, accuracy, loss } = result(evaluated)
    expect({ event, samples, accuracy }).toEqual({
      event: 'result',
      samples: 359,
      accuracy: expect.closeTo(validation.accuracy, 6) as number,
    })
    expect(loss).toBeCloseTo(validation.loss, 4)
  })

  it('leaves a model that tells the digit of a row', async () => {
    const [row] = gunzipSync(readFileSync(digits)).toString('utf8').split('\n')
    const pixels = row!.split(',').slice(0, -1)
    expect(pixels).toHaveLength(64)
    writeFileSync(join(folder, 'row.csv'), `${pixels.join(',')}\n`)
    const predicted = await rookery('predict', model(), '--input', join(folder, 'row.csv'))
    expect(predicted.code).toBe(0)
    const { predictions } = result(predicted) as {
      readonly predictions: { readonly best: { readonly label: string; readonly probability: number }[] }[]
    }
    expect(predictions).toHaveLength(1)
    const best = predictions[0]!.best
    expect(best).toHaveLength(5)
    for (const { label } of best) expect(label).toMatch(/^[0-9]$/)
    expect(new Set(best.map(({ label }) => label)).size).toBe(5)
    const probabilities = best.map(({ probability }) => probability)
    expect(probabilities).toEqual([...probabilities].sort((a, b) => b - a))
    expect(probabilities.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(1.000001)
  })
})
