/** Commands about models and data: what there is to host, and what a finished model is worth. */
import { basename } from 'node:path'
import { jobFile } from '../../../shared/job/spec.ts'
import { minute } from '../../../shared/units.ts'
import { limitedBy } from '../../core/job/host-forecast.ts'
import { slownessInWords, slownessOf, spreadOf } from '../../core/job/learned.ts'
import { previewData } from '../../edge/data/preview.ts'
import { copyModel } from '../../edge/store/copy-model.ts'
import type { AgentParts } from '../agent-parts.ts'
import { lentPc } from '../device.ts'
import { modelCards } from '../model-cards.ts'
import { readLearned } from '../learned-file.ts'
import { resolveModel } from '../models.ts'
import { inPlanningThread } from '../planning/thread.ts'
import { evaluateTask } from '../tasks/evaluate.ts'
import { predictTask } from '../tasks/predict.ts'
import type { HandlersOf } from './handlers.ts'

/** As a job has it that says nothing else. */
const defaultValidationShare = jobFile.shape.validation.parse({}).share
/** A person waits for it. */
const inspectWithinMs = 2 * minute

/** Every number of PCs up to eight, then every second one, and the last: enough for a curve. */
function rowsUpTo(peers: number): number[] {
  const all = Array.from({ length: peers }, (_, index) => index + 1)
  return all.filter((count) => count <= 8 || count % 2 === 0 || count === peers)
}

export function modelCommands(
  parts: AgentParts,
): HandlersOf<'models' | 'inspectData' | 'forecastHost' | 'evaluate' | 'predict' | 'exportModel'> {
  let last: Promise<unknown> = Promise.resolve()
  /** One after the other: each takes an engine thread of its own, beside that of the job. */
  function inTurn<T>(deed: () => Promise<T>): Promise<T> {
    const result = last.then(deed)
    last = result.catch(() => undefined)
    return result
  }
  return {
    models: modelCards,
    inspectData: async ({ source, model }) => {
      const graph = await resolveModel(model)
      const signal = AbortSignal.timeout(inspectWithinMs)
      return previewData({ source, graph, validationShare: defaultValidationShare, signal })
    },
    forecastHost: async ({ job, peers }) => {
      const graph = await resolveModel(job.model)
      const known = await readLearned(parts.home)
      const slower = slownessOf(known, parts.swarm.self)
      const pc = await lentPc(parts)
      const spread = spreadOf(known)
      const request = {
        ...{ graph, recipe: job.recipe, updates: job.target.updates, seed: job.seed },
        ...{
          clusters: job.gathering.clusters,
          spread,
          pc: { ...pc, flopsPerSecond: pc.flopsPerSecond / slower },
        },
      }
      const rows = await inPlanningThread('forecast', { request, peers: rowsUpTo(peers) })
      const words = slownessInWords(slower)
      const counted = words === undefined ? '' : ` Last time this PC was ${words}; that is counted in.`
      return { byPeers: rows, limitedBy: limitedBy(rows, spread) + counted }
    },
    evaluate: ({ model, data }) =>
      inTurn(async () => {
        const { samples, scores } = await evaluateTask({ modelDirectory: model, data })
        return { samples, scores }
      }),
    predict: ({ model, input }) =>
      inTurn(async () => {
        const answers = await predictTask({ modelDirectory: model, input })
        return answers.map(({ best, values, ...answer }) => ({
          ...answer,
          ...(best === undefined ? {} : { best: [...best] }),
          ...(values === undefined ? {} : { values: [...values] }),
        }))
      }),
    exportModel: async ({ model, to }) => {
      await copyModel(model, to)
      parts.log('info', `a model was exported`, { model: basename(model) })
      return null
    },
  }
}
