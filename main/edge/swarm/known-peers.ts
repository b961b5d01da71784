/** The peer store on disk: whom we met before, so that a restart finds the swarm without an invite. */
import { LevelDatastore } from 'datastore-level'
import { AlreadyInUseError } from '../../../shared/errors.ts'
import type { Log } from '../../core/ports.ts'

/** Level's own error codes stand on the cause of what `open` throws. */
const codeOf = (error: unknown): unknown =>
  error instanceof Error && typeof error.cause === 'object' && error.cause !== null && 'code' in error.cause
    ? error.cause.code
    : undefined

async function open(store: LevelDatastore): Promise<LevelDatastore> {
  // LevelDatastore's own open() keeps only the text of the error.
  await store.db.open()
  return store
}

/**
 * Delete a database that did not open. datastore-level exports no Level, but the class of its database has the
 * deletion. Not a new instance's class: that one would begin to open what is to be deleted.
 */
async function destroy(store: LevelDatastore, path: string): Promise<void> {
  const level = store.db.constructor as unknown as { readonly destroy: (location: string) => Promise<void> }
  await level.destroy(path)
}

/**
 * Open the store; a damaged one is emptied, for nothing in it is irreplaceable.
 *
 * @returns undefined where no store can be kept on this disk: go on without
 * @throws AlreadyInUseError when another agent has it open
 */
export async function openKnownPeers(path: string, log: Log): Promise<LevelDatastore | undefined> {
  const store = new LevelDatastore(path)
  try {
    return await open(store)
  } catch (error) {
    if (codeOf(error) === 'LEVEL_LOCKED')
      throw new AlreadyInUseError(
        `another agent uses ${path}: stop it, or give this one a home folder of its own`,
      )
    log('warn', `the list of known peers in ${path} was damaged and is begun anew`, { error: String(error) })
  }
  try {
    await destroy(store, path)
    return await open(new LevelDatastore(path))
  } catch (error) {
    log('warn', `known peers cannot be kept in ${path}; this run goes on without`, { error: String(error) })
    return undefined
  }
}
