/** `rookery bench device`: what this PC would bring to a pool. */
import type { AddCommand, HomeOptions } from '../context.ts'
import { homeOption, jsonOption, parseWhole } from '../context.ts'
import { homeFolder } from '../home.ts'
import type { DeviceBench } from '../tasks.ts'
import { formatBytes, formatFlops } from '../view/numbers.ts'

export const addBench: AddCommand = (program, context) => {
  const bench = program.command('bench').description('measure this PC')
  bench
    .command('device')
    .description('measure this PC on a real training step')
    .option('--backend <name>', 'auto, node-gpu, node, webgpu, kernels, wasm or cpu')
    .option(
      '--threads <n>',
      'that compute, of our own kernels (default: engine.threads of the settings; 0: all cores but one)',
      parseWhole('--threads', { from: 0, to: 1024 }),
    )
    .option(...homeOption)
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  rookery bench device --json')
    .action(async (options: HomeOptions & { readonly backend?: string; readonly threads?: number }) => {
      const terminal = context.terminal(options)
      const tasks = await context.loadTasks()
      const { backend, threads } = options
      const found = await tasks.benchDeviceTask({
        home: homeFolder(options.home),
        ...(backend === undefined ? {} : { backend }),
        ...(threads === undefined ? {} : { threads }),
      })
      terminal.event({ event: 'result', ...found })
      terminal.answer(
        [
          `${found.cpuModel}, ${found.cores} cores, ${found.platform}`,
          `memory: ${formatBytes(found.availableMemoryBytes)} free of ${formatBytes(found.totalMemoryBytes)}`,
          `a training step runs at ${formatFlops(found.flopsPerSecond)} on the engine ${found.backend}${threadsIn(found)}`,
          ...found.backends.map(backendLine),
        ].join('\n'),
      )
    })
}

const threadsIn = ({ threads }: DeviceBench) =>
  threads === undefined ? '' : threads === 1 ? ', on 1 thread' : `, on ${threads} threads`

function backendLine(of: DeviceBench['backends'][number]): string {
  const speed = of.flopsPerSecond === undefined ? '' : ` at ${formatFlops(of.flopsPerSecond)}`
  const chosen = of.chosen === true ? ', chosen' : ''
  return `${of.name}: ${of.loaded ? 'loads' : 'does not load'}${speed}${chosen}. ${of.reason}`
}
