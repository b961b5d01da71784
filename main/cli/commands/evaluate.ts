/** `rookery evaluate MODEL_DIR --data PATH`: how good a finished model is on data of its kind. */
import { resolve } from 'node:path'
import type { AddCommand, CommonOptions } from '../context.ts'
import { jsonOption } from '../context.ts'
import { readDataSourceFile } from '../job-file.ts'
import { formatCount, formatLoss, formatShare } from '../view/numbers.ts'

const help = `
PATH is data of the kind that the model was trained on, or a .json file with a data source
as in JOB.json, for example {"type":"csv","path":"new.csv","label":"digit"}.

Example:
  rookery evaluate rookery-demo-digits-cnn --data resources/samples/digits.csv.gz`

export const addEvaluate: AddCommand = (program, context) => {
  program
    .command('evaluate')
    .description('measure the loss and accuracy of a finished model')
    .argument('<model_dir>', 'a folder with model.json and model.safetensors')
    .requiredOption('--data <path>', 'samples with their labels')
    .option(...jsonOption)
    .addHelpText('after', help)
    .action(async (directory: string, options: CommonOptions & { readonly data: string }) => {
      const terminal = context.terminal(options)
      const data = options.data.endsWith('.json')
        ? await readDataSourceFile(options.data)
        : resolve(options.data)
      const tasks = await context.loadTasks()
      const { samples, scores } = await tasks.evaluateTask({ modelDirectory: resolve(directory), data })
      terminal.event({ event: 'result', samples, ...scores })
      terminal.answer(
        `loss ${formatLoss(scores.loss)}, accuracy ${formatShare(scores.accuracy, 2)}, ` +
          `top five ${formatShare(scores.top5, 2)}, perplexity ${formatLoss(scores.perplexity)} ` +
          `on ${formatCount(samples)} samples`,
      )
    })
}
