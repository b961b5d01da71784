/** `rookery bench device`: what this PC would bring to a pool. */
import type { AddCommand, CommonOptions } from '../context.ts'
import { jsonOption } from '../context.ts'
import type { DeviceBench } from '../tasks.ts'
import { formatBytes, formatFlops } from '../view/numbers.ts'

export const addBench: AddCommand = (program, context) => {
  const bench = program.command('bench').description('measure this PC')
  bench
    .command('device')
    .description('measure this PC on a real training step')
    .option('--backend <name>', 'auto, node-gpu, node, webgpu, kernels, wasm or cpu')
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  rookery bench device --json')
    .action(async (options: CommonOptions & { readonly backend?: string }) => {
      const terminal = context.terminal(options)
      const tasks = await context.loadTasks()
      const found = await tasks.benchDeviceTask(
        options.backend === undefined ? {} : { backend: options.backend },
      )
      terminal.event({ event: 'result', ...found })
      terminal.answer(
        [
          `${found.cpuModel}, ${found.cores} cores, ${found.platform}`,
          `memory: ${formatBytes(found.availableMemoryBytes)} free of ${formatBytes(found.totalMemoryBytes)}`,
          `a training step runs at ${formatFlops(found.flopsPerSecond)} on the engine ${found.backend}`,
          ...found.backends.map(backendLine),
        ].join('\n'),
      )
    })
}

function backendLine(of: DeviceBench['backends'][number]): string {
  const speed = of.flopsPerSecond === undefined ? '' : ` at ${formatFlops(of.flopsPerSecond)}`
  const chosen = of.chosen === true ? ', chosen' : ''
  return `${of.name}: ${of.loaded ? 'loads' : 'does not load'}${speed}${chosen}. ${of.reason}`
}
