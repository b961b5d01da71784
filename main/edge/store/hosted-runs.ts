/** Runs that this PC hosts, each a folder: what the job is, how far it came, and the newest two whole models of it. */
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { SavedRun } from '../../core/ports.ts'
import { PoolError } from '../../../shared/errors.ts'
import { jobId, type JobId } from '../../../shared/ids.ts'
import { runBook } from '../../../shared/job/run-book.ts'
import { jobSpec } from '../../../shared/job/spec.ts'
import { mebibyte } from '../../../shared/units.ts'
import { type OpenFile, hasCode, openFile, readJson, writeWhole, writing } from './files.ts'
import { loadStageFile, saveStageFile } from './stage-checkpoints.ts'

const maxJsonBytes = 64 * mebibyte
const count = z.int().min(0)

/** What makes this PC the job's host, and whom it lets in. */
export const hostedJobFile = z.strictObject({
  format: z.literal('rookery-hosted/1'),
  spec: jobSpec,
  gathering: z.strictObject({
    peers: count.optional(),
    deadlineSeconds: z.number().positive(),
    clusters: count.optional(),
    inviteHours: z.number().positive(),
  }),
  /** Ed25519, the private 32 bytes in hex. */
  privateKey: z.string().regex(/^[0-9a-f]{64}$/),
  /** Each invite's secret, and until when it opens the job. */
  secrets: z.array(z.tuple([z.string().regex(/^[0-9a-f]{32}$/), count])).max(10_000),
  /** Folder of the finished model whose weights the run began with. */
  continueFrom: z.string().optional(),
})
export type HostedJobFile = z.infer<typeof hostedJobFile>

const jobPath = (folder: string) => join(folder, 'job.json')
const bookPath = (folder: string) => join(folder, 'book.json')
const json = (value: unknown) => [Buffer.from(`${JSON.stringify(value)}\n`)]

/** @throws DiskFullError */
export async function saveHostedJob(folder: string, job: HostedJobFile): Promise<void> {
  await writing(folder, () => mkdir(folder, { recursive: true, mode: 0o700 }))
  await writeWhole(jobPath(folder), json(job), openFile)
}

/** The book first: it tells of this checkpoint and of the one before. @throws DiskFullError; what was kept stays */
export async function saveRunFiles(folder: string, run: SavedRun, openForWriting: OpenFile): Promise<void> {
  await writing(folder, () => mkdir(folder, { recursive: true, mode: 0o700 }))
  await writeWhole(bookPath(folder), json(run.book), openForWriting)
  if (run.checkpoint !== undefined) await saveStageFile(folder, run.checkpoint, openForWriting)
}

export interface FoundRun {
  readonly job: JobId
  readonly file: HostedJobFile
  /** Undefined when the job had not begun to train. */
  readonly run: SavedRun | undefined
}

/** The run that was written down last; undefined where there is none that can be used. */
export async function newestHostedRun(runs: string): Promise<FoundRun | undefined> {
  const found: { readonly job: string; readonly atMs: number }[] = []
  for (const job of await foldersIn(runs)) {
    const folder = join(runs, job)
    const times = await Promise.all([bookPath(folder), jobPath(folder)].map(timeOf))
    if (jobId.safeParse(job).success) found.push({ job, atMs: Math.max(...times) })
  }
  for (const { job } of found.sort((a, b) => b.atMs - a.atMs)) {
    const file = await readChecked(jobPath(join(runs, job)), hostedJobFile)
    if (file !== undefined) return { job, file, run: await readRun(join(runs, job)) }
  }
  return undefined
}

async function readRun(folder: string): Promise<SavedRun | undefined> {
  const book = await readChecked(bookPath(folder), runBook)
  return book === undefined ? undefined : { book, checkpoint: await loadStageFile(folder) }
}

const foldersIn = (runs: string) =>
  readdir(runs).catch((thrown: unknown) => {
    if (hasCode(thrown, 'ENOENT')) return []
    throw thrown
  })

const timeOf = (path: string) =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  )

/** Undefined for a file that is not there, or that a crash or a disk broke. */
async function readChecked<T>(path: string, schema: z.ZodType<T>): Promise<T | undefined> {
  try {
    return schema.safeParse(await readJson(path, maxJsonBytes)).data
  } catch (thrown) {
    if (thrown instanceof PoolError || hasCode(thrown, 'ENOENT')) return undefined
    throw thrown
  }
}

/** The job is over. */
export async function forgetHostedRun(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
}
