/**
 * What codecs cost in learning: validation losses on three stages, and their ratio to float32's. The digits by the mean
 * of five seeds, gpt-mini on the sample text once. The same figures on every run; minutes.
 * `npm run bench -- codec [--only digits|text] [--json]`.
 */
import { resolveModel } from '../../main/agent/models.ts'
import { createWasmEngine } from '../../main/edge/engine/wasm/stage-engine.ts'
import { type Codec, codec } from '../../shared/codec/codec.ts'
import { type CodedRun, digits, lossAfter, text } from '../measures/coded-run.ts'

const cuts = [4, 8]
const seeds = [1, 2, 3, 4, 5]

export async function benchCodec(only: readonly string[] = []): Promise<Record<string, number>> {
  const engines = [0, 1, 2].map(() => createWasmEngine({ kernels: 'auto', threads: 1 }))
  const onDigits = { graph: await resolveModel('digits-cnn'), cuts, samples: digits(), microBatch: 16, updates: 200, warmupUpdates: 20 } // prettier-ignore
  const onText = { graph: await resolveModel('gpt-mini'), cuts, samples: text(64), microBatch: 4, updates: 300, warmupUpdates: 50, clipNorm: 1 } // prettier-ignore
  const lossOf = async (run: Omit<CodedRun, 'seed' | 'codec'>, name: Codec, from: readonly number[]) => {
    let sum = 0
    for (const seed of from) sum += await lossAfter(engines, { ...run, codec: name, seed })
    return sum / from.length
  }
  const figures: Record<string, number> = {}
  for (const [what, run, from, names] of [
    ['digits', onDigits, seeds, codec.options],
    ['text', onText, [1], ['fp32', 'int8']],
  ] as const) {
    if (only.length > 0 && !only.includes(what)) continue
    const exact = await lossOf(run, 'fp32', from)
    figures[`${what} fp32 loss`] = exact
    for (const name of names.slice(1)) {
      const loss = await lossOf(run, name, from)
      figures[`${what} ${name} loss`] = loss
      figures[`${what} ${name} / fp32`] = loss / exact
    }
  }
  return figures
}
