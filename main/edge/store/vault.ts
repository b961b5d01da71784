/** What survives this process, under one home folder: finished models and the saves of stages. */
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Vault } from '../../core/ports.ts'
import { InvariantError } from '../../../shared/errors.ts'
import { jobId } from '../../../shared/ids.ts'
import { type OpenFile, openFile } from './files.ts'
import {
  type FoundRun,
  forgetHostedRun,
  type HostedJobFile,
  newestHostedRun,
  saveHostedJob,
  saveRunFiles,
} from './hosted-runs.ts'
import { type SavedStage, loadStageFile, saveStageFile } from './stage-checkpoints.ts'
import { recoverModels, saveTrainedModel } from './trained-models.ts'

/** The port, and the way back in. */
export interface DiskVault extends Vault {
  saveStage(job: string, stage: SavedStage): Promise<void>
  /** The newest whole save of a job's stage; undefined when there is none. */
  loadStage(job: string): Promise<SavedStage | undefined>
  /** Delete the saves of a job that is over. */
  forgetStage(job: string): Promise<void>
  /** Keep what makes this PC the host of a job. @throws DiskFullError */
  saveHostedJob(job: string, file: HostedJobFile): Promise<void>
  /** The run that was hosted last and is not over. */
  newestHostedRun(): Promise<FoundRun | undefined>
  forgetHostedRun(job: string): Promise<void>
}

/** Opens the vault of a home folder; a replacement that a crash cut short is undone. */
export async function createVault(
  home: string,
  settings: { readonly openFile?: OpenFile } = {},
): Promise<DiskVault> {
  const openForWriting = settings.openFile ?? openFile
  const models = join(home, 'models')
  await mkdir(models, { recursive: true, mode: 0o700 })
  await recoverModels(models)
  const folderOf = (kind: 'stages' | 'hosted', job: string): string => {
    // A job's id becomes a path here.
    if (!jobId.safeParse(job).success) throw new InvariantError('a job is saved under its id')
    return join(home, kind, job)
  }
  const stageFolder = (job: string) => folderOf('stages', job)
  const hostedFolder = (job: string) => folderOf('hosted', job)

  let last: Promise<unknown> = Promise.resolve()
  /** One write after the other: two saves of one job would share their temporary names. */
  function inTurn<T>(write: () => Promise<T>): Promise<T> {
    const result = last.then(write)
    last = result.catch(() => undefined)
    return result
  }

  return {
    saveModel: (job, model) => inTurn(() => saveTrainedModel(models, { job, model }, openForWriting)),
    saveStage: (job, stage) => inTurn(async () => saveStageFile(stageFolder(job), stage, openForWriting)),
    loadStage: (job) => inTurn(async () => loadStageFile(stageFolder(job))),
    forgetStage: (job) => inTurn(async () => rm(stageFolder(job), { recursive: true, force: true })),
    saveRun: (job, run) => inTurn(async () => saveRunFiles(hostedFolder(job), run, openForWriting)),
    saveHostedJob: (job, file) => inTurn(async () => saveHostedJob(hostedFolder(job), file)),
    newestHostedRun: () => inTurn(() => newestHostedRun(join(home, 'hosted'))),
    forgetHostedRun: (job) => inTurn(async () => forgetHostedRun(hostedFolder(job))),
  }
}
