/** Names of the programs that run on this PC. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { processes } from 'systeminformation'

/** Read side by side; each is two tiny files of the kernel's. */
const readAtOnce = 64
/** Arguments may be megabytes; the program's own path is at the front. */
const maxPathLength = 4096

/**
 * @param source.procFolder - Linux's /proc
 * @returns names as the system gives them, with or without folder and extension; a program may be there by two names
 */
export async function runningPrograms(
  source: { readonly platform?: string; readonly procFolder?: string } = {},
): Promise<readonly string[]> {
  const { platform = process.platform, procFolder = '/proc' } = source
  if (platform === 'linux') return programsOf(procFolder)
  const { list } = await processes()
  return list.flatMap(({ name, path }) => (path === '' ? [name] : [name, path]))
}

/** /proc/N/comm is cut at 15 characters, so the first argument, the program's path, is told as well. */
async function programsOf(folder: string): Promise<readonly string[]> {
  const ids = (await readdir(folder)).filter((name) => /^\d+$/.test(name))
  const names: string[] = []
  for (let first = 0; first < ids.length; first += readAtOnce) {
    const some = ids.slice(first, first + readAtOnce)
    names.push(...(await Promise.all(some.map((id) => namesOf(join(folder, id))))).flat())
  }
  return names
}

async function namesOf(folder: string): Promise<readonly string[]> {
  // A process may end between the two looks.
  const read = (file: string) => readFile(join(folder, file), 'utf8').catch(() => '')
  const [short, line] = await Promise.all([read('comm'), read('cmdline')])
  const [path = ''] = line.slice(0, maxPathLength).split('\0')
  return [short.trim(), path].filter((name) => name !== '')
}
