/** A disk that takes no more, said in one sentence. */
import { DiskFullError } from '../../../../shared/errors.ts'

const full = ['ENOSPC', 'EDQUOT']

/** Runs a write. @throws DiskFullError in place of the system's code for it */
export async function writing<T>(folder: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (thrown) {
    if (thrown instanceof Error && full.includes((thrown as NodeJS.ErrnoException).code ?? ''))
      throw new DiskFullError(`the disk with "${folder}" is full: free some space and start the job again`)
    throw thrown
  }
}
