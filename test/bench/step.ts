/**
 * A whole step (forward, loss, backward, update) of three models: our own kernels, wide and narrow, on one thread and
 * on two, and PyTorch's CPU on as many where python3-torch is installed. Medians of rounds in which each takes its turn,
 * so that ratios are of one run. Two engines of one thread each that compute side by side say what a second core of
 * this machine is worth at most: cores share their memory, and virtual ones often a core.
 *
 * `npm run bench -- step [--only MODEL] [--profile] [--json]`: the profile says which kernels take what share.
 */
import { cpus } from 'node:os'
import type { StageEngine } from '../../main/core/ports.ts'
import { startWasmEngineThread } from '../../main/edge/engine/wasm/client.ts'
import { createWasmEngine } from '../../main/edge/engine/wasm/stage-engine.ts'
import { layoutOfGraph, stateLayout } from '../../shared/model/layout.ts'
import { type Runner, type Subject, batchOf, begin, subjects } from './step-models.ts'
import { profileStep } from './step-profile.ts'
import { openTorch } from './step-torch.ts'
import { median } from '../../shared/median.ts'

const warmUps = 2
const rounds = 11
const threadCounts = [1, 2]

export interface StepOptions {
  readonly only?: string | undefined
  readonly profile?: boolean | undefined
}

export async function benchStep({
  only,
  profile = false,
}: StepOptions): Promise<Record<string, number | string>> {
  const machine = `${cpus()[0]?.model ?? 'unknown'} × ${cpus().length}, Node ${process.versions.node}`
  const figures: Record<string, number | string> = { machine }
  for (const subject of await subjects()) {
    if (only !== undefined && subject.name !== only) continue
    Object.assign(figures, profile ? await profileStep(subject) : await compare(subject))
  }
  return figures
}

/** Milliseconds a step of each, and their ratios at the same number of threads. */
async function compare(subject: Subject): Promise<Record<string, number | string>> {
  const runners: Runner[] = []
  const figures: Record<string, number | string> = {}
  for (const threads of threadCounts) {
    for (const kernels of ['wide', 'narrow'] as const)
      runners.push(await ownRunner(`${kernels} ${threads}`, createWasmEngine({ kernels, threads }), subject))
    const torch = await openTorch(subject, threads, parametersOf(subject))
    if (torch === undefined) continue
    figures['torch'] = torch.about
    runners.push(torch.runner)
  }
  runners.push(await sideBySide(subject))
  const times = await timesOf(runners, subject.steps)
  for (const [name, milliseconds] of times) figures[`${subject.name} ${name} ms`] = milliseconds
  const ratio = (of: string, by: string) => {
    const [own, other] = [times.get(of), times.get(by)]
    if (own !== undefined && other !== undefined) figures[`${subject.name} ${of} / ${by}`] = own / other
  }
  for (const kernels of ['wide', 'narrow']) {
    for (const threads of threadCounts) ratio(`${kernels} ${threads}`, `torch ${threads}`)
    ratio(`${kernels} 1`, `${kernels} 2`)
  }
  ratio('torch 1', 'torch 2')
  ratio('wide 1', twoAtOnce)
  return figures
}

const parametersOf = ({ graph }: Subject) =>
  stateLayout(layoutOfGraph(graph), [0, graph.layers.length]).trainedLength

const twoAtOnce = 'two at once'

/** Two engines in threads of their own, each of which does half of the steps. */
async function sideBySide(subject: Subject): Promise<Runner> {
  const one = startWasmEngineThread({ kernels: 'wide', threads: 1 })
  const engines = await Promise.all([one, startWasmEngineThread({ kernels: 'wide', threads: 1 })])
  const runners = await Promise.all(engines.map((engine) => ownRunner('', engine, subject)))
  return {
    name: twoAtOnce,
    run: async (steps) => Math.max(...(await Promise.all(runners.map(({ run }) => run(steps))))) / 2,
    stop: () => Promise.all(engines.map((engine) => engine.stop())),
  }
}

async function ownRunner(name: string, engine: StageEngine, subject: Subject): Promise<Runner> {
  await begin(engine, subject)
  const { input, labels } = batchOf(subject)
  let microBatch = 0
  return {
    name,
    async run(steps) {
      const before = performance.now()
      for (let step = 0; step < steps; step++) {
        await engine.forwardLoss({ microBatch: microBatch++, input, labels, predictUpdates: 0 })
        await engine.update()
      }
      return performance.now() - before
    },
    stop: () => engine.unload(),
  }
}

/** Milliseconds a step: rounds in turn, so that what else the machine does meets all alike. */
async function timesOf(runners: readonly Runner[], steps: number): Promise<ReadonlyMap<string, number>> {
  const times = new Map(runners.map(({ name }) => [name, [] as number[]]))
  for (let round = 0; round < warmUps + rounds; round++) {
    for (const { name, run } of runners) {
      const milliseconds = await run(steps)
      if (round >= warmUps) times.get(name)?.push(milliseconds / steps)
    }
  }
  await Promise.all(runners.map(({ stop }) => stop()))
  return new Map([...times].map(([name, found]) => [name, median(found)]))
}
