/** The real command line with the fake agent and tasks of known answers. */
import { fileURLToPath } from 'node:url'
import { main } from '../../main/cli/main.ts'
import type { Tasks } from '../../main/cli/tasks.ts'
import { exampleJob } from './example-job.ts'

const tasks: Tasks = {
  planTask({ pool, seed }) {
    const bytes = pool.peers.reduce((sum, peer) => sum + peer.memoryBytes, 0)
    if (bytes < 1000)
      return Promise.resolve({ feasible: false, shortfallBytes: 1000 - bytes, reason: 'too little memory' })
    const { layout } = exampleJob.plan!
    const remedies = [{ change: 'a twice as fast', samplesPerSecond: 12.5, gain: 0.25 }]
    const bottleneck = { sentence: 'The speed of a holds the pool back.', remedies }
    return Promise.resolve({ feasible: true, ...layout, planSeconds: seed, bottleneck })
  },
  simulateTask: () =>
    Promise.resolve({
      report: { feasible: false, shortfallBytes: 7, reason: 'too little memory' },
      trace: undefined,
    }),
  benchDeviceTask: ({ backend, threads = 3 }) =>
    Promise.resolve({
      cpuModel: 'Abacus',
      cores: 2,
      totalMemoryBytes: 2 ** 33,
      availableMemoryBytes: 2 ** 32,
      platform: 'linux x64',
      backend: backend ?? 'auto',
      threads,
      flopsPerSecond: 1e10,
      backends: [{ name: 'fake', loaded: true, reason: 'It is installed and starts.' }],
    }),
  evaluateTask: () =>
    Promise.resolve({ samples: 360, scores: { loss: 0.2, accuracy: 0.95, top5: 1, perplexity: 1.2 } }),
  predictTask: ({ input }) => Promise.resolve([{ sample: input, best: [{ label: '7', probability: 0.9 }] }]),
  demoBudgetsTask: ({ shape }) =>
    Promise.resolve(shape.flatMap((stages) => new Array<number>(stages).fill(1000 * stages))),
}

await main({
  agentEntry: fileURLToPath(new URL('fake-agent.ts', import.meta.url)),
  loadTasks: () => Promise.resolve(tasks),
})
