/** `rookery predict MODEL_DIR --input PATH`: what a finished model says to new samples. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { AddCommand, CommonOptions } from '../context.ts'
import { jsonOption } from '../context.ts'
import type { Prediction } from '../tasks.ts'
import { harmless, harmlessLines } from '../view/columns.ts'
import { formatShare } from '../view/numbers.ts'

const help = `
PATH holds samples without labels: a CSV file, or an image. A text model takes a prompt.

Examples:
  rookery predict rookery-demo-digits-cnn --input new-digits.csv --json
  rookery predict rookery-demo-gpt-mini --input "Call me "`

export const addPredict: AddCommand = (program, context) => {
  program
    .command('predict')
    .description('apply a finished model to new samples')
    .argument('<model_dir>', 'a folder with model.json and model.safetensors')
    .requiredOption('--input <path>', 'samples without labels')
    .option(...jsonOption)
    .addHelpText('after', help)
    .action(async (directory: string, options: CommonOptions & { readonly input: string }) => {
      const terminal = context.terminal(options)
      const tasks = await context.loadTasks()
      const predictions = await tasks.predictTask({
        modelDirectory: resolve(directory),
        // What is no file may be a prompt; the task knows the model and says which it wants.
        input: existsSync(options.input) ? resolve(options.input) : options.input,
      })
      for (const prediction of predictions) {
        terminal.event({ event: 'prediction', ...prediction })
        if (!terminal.json) terminal.answer(predictionText(prediction))
      }
      terminal.event({ event: 'result', samples: predictions.length, predictions })
    })
}

function predictionText({ sample, best, values, continuation }: Prediction): string {
  if (continuation !== undefined) return `${harmless(sample)}${harmlessLines(continuation)}`
  const said =
    best?.map(({ label, probability }) => `${harmless(label)} ${formatShare(probability, 1)}`) ??
    values?.map((value) => value.toPrecision(4)) ??
    []
  return `${harmless(sample)}: ${said.join(', ')}`
}
