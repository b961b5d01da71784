/** Which processes are still there. */
import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

/** Ids of the processes whose command line names this folder or one below it. POSIX only. */
export async function processesNaming(folder: string): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,args='], { maxBuffer: 2 ** 24 })
  const lines = stdout.split('\n').filter((line) => line.includes(folder))
  return lines.map((line) => Number.parseInt(line, 10))
}

/** Look again until none names the folder any more; the test's own limit is the deadline. */
export async function noneLeft(folder: string): Promise<void> {
  while ((await processesNaming(folder)).length > 0) await sleep(100)
}
