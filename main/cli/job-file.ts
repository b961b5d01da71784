/** JOB.json: read, checked, and every path in it made absolute. */
import { access } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { InvalidInputError } from '../../shared/errors.ts'
import { dataSource } from '../../shared/job/data.ts'
import type { DataSource } from '../../shared/job/data.ts'
import { jobFile } from '../../shared/job/spec.ts'
import type { JobFile } from '../../shared/job/spec.ts'
import { modelReference } from './context.ts'
import { readJsonFile } from './json-file.ts'

/** @throws InvalidInputError in one sentence that names the field */
export async function readJobFile(path: string): Promise<JobFile> {
  const folder = dirname(resolve(path))
  const job = absoluteJob(await readJsonFile(resolve(path), jobFile), folder)
  for (const [field, place] of pathsOf(job)) await mustExist(`${basename(path)}: ${field}`, place)
  return job
}

/** A source in a file of its own, for `evaluate --data`. @throws InvalidInputError */
export async function readDataSourceFile(path: string): Promise<DataSource> {
  return absoluteSource(await readJsonFile(resolve(path), dataSource), dirname(resolve(path)))
}

/** The job with paths resolved against the folder of its file. */
function absoluteJob(job: JobFile, folder: string): JobFile {
  return {
    ...job,
    model: typeof job.model === 'string' ? modelReference(job.model, folder) : job.model,
    data: absoluteSource(job.data, folder),
    ...(job.continueFrom === undefined ? {} : { continueFrom: resolve(folder, job.continueFrom) }),
  }
}

function absoluteSource(source: DataSource, folder: string): DataSource {
  switch (source.type) {
    case 'csv':
    case 'text':
    case 'images':
      return { ...source, path: resolve(folder, source.path) }
    case 'idx':
      return {
        ...source,
        images: resolve(folder, source.images),
        labels: resolve(folder, source.labels),
      }
    case 'cifar10':
      return { ...source, paths: source.paths.map((path) => resolve(folder, path)) }
  }
}

function pathsOf(job: JobFile): [field: string, path: string][] {
  const paths: [string, string][] = []
  const { data } = job
  if (data.type === 'idx') paths.push(['data.images', data.images], ['data.labels', data.labels])
  else if (data.type === 'cifar10') {
    data.paths.forEach((path, index) => paths.push([`data.paths.${index}`, path]))
  } else paths.push(['data.path', data.path])
  if (typeof job.model === 'string' && /[/\\]/.test(job.model)) paths.push(['model', job.model])
  if (job.continueFrom !== undefined) paths.push(['continueFrom', job.continueFrom])
  return paths
}

async function mustExist(field: string, path: string): Promise<void> {
  try {
    await access(path)
  } catch {
    throw new InvalidInputError(`${field}: there is no readable file or folder at ${path}`)
  }
}
