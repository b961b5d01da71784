import { afterAll, describe, expect, it } from 'vitest'
import { evaluateTask } from '../../main/agent/tasks/evaluate.ts'
import { demoBudgetsTask } from '../../main/agent/tasks/demo-budgets.ts'
import { createFleet, digits, digitsJob, gatherPool } from './fleet.ts'

const fleet = createFleet()
afterAll(() => fleet.end())

describe('a pool with two kinds of engine', () => {
  it('trains one model: Rookery’s own kernels and TensorFlow.js agree about it', async () => {
    const budgetOf = async (backend: string) => {
      const [memoryBytes] = await demoBudgetsTask({ model: 'digits-cnn', shape: [2], backend })
      return { memoryBytes: memoryBytes!, backend }
    }
    const own = await budgetOf('kernels')
    const [host, friend] = await Promise.all([
      fleet.start('ann', own),
      fleet.start('ben', await budgetOf('wasm')),
    ])
    const gathering = { peers: 2, clusters: 1, deadlineSeconds: 600, inviteHours: 24 }
    const job = digitsJob({ model: 'digits-cnn', target: { updates: 60 }, gathering })
    const run = await gatherPool(host, [friend], job)
    const result = await host.resultOf(run.job)
    expect(result).toMatchObject({ outcome: 'finished', updates: 60 })
    const { scores } = await evaluateTask({ modelDirectory: result.model!, data: digits })
    expect(scores.accuracy).toBeGreaterThan(0.9)
    expect(scores.accuracy).toBeCloseTo(result.validation!.accuracy, 2)
    expect(scores.loss).toBeCloseTo(result.validation!.loss, 2)
    const [ann] = (await host.client.command('status', {})).job!.members
    expect(ann!.peakTensorBytes).toBeLessThanOrEqual(own.memoryBytes)
  })
})
