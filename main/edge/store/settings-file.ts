/** The agent's settings on disk: `settings.json` in its home. */
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { InvalidInputError } from '../../../shared/errors.ts'
import { type Settings, readSettings } from '../../../shared/settings.ts'
import { mebibyte } from '../../../shared/units.ts'
import { readJson, writing } from './files.ts'

const pathIn = (home: string) => join(home, 'settings.json')

/** Settings of a home; the defaults where there is no file. @throws InvalidInputError naming file and field */
export async function loadSettings(home: string): Promise<Settings> {
  const path = pathIn(home)
  const raw = await readJson(path, mebibyte)
  if (raw === undefined) return readSettings({})
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
    throw new InvalidInputError(`"${path}" should hold one JSON object: correct or delete it`)
  try {
    return readSettings(raw)
  } catch (thrown) {
    if (!(thrown instanceof InvalidInputError)) throw thrown
    throw new InvalidInputError(`"${path}" is not usable: ${thrown.message}; correct or delete it`)
  }
}

/** Put settings in place of the old ones. @throws DiskFullError; the old ones are untouched */
export async function saveSettings(home: string, settings: Settings): Promise<void> {
  const path = pathIn(home)
  const text = `${JSON.stringify(settings, null, 2)}\n`
  await writing(path, () => writeFileAtomic(path, text, { mode: 0o600 }))
}
