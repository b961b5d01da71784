/** What the person chose for the desktop: `desktop.json` in the home folder. The agent's settings are the agent's. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import type { z } from 'zod'
import { settings } from '../../../shared/settings.ts'

const schema = settings.shape.desktop.unwrap()
export type DesktopSettings = z.infer<typeof schema>

const pathIn = (home: string): string => join(home, 'desktop.json')

/** A missing or damaged file is no reason not to start: its defaults hold. */
export async function loadDesktopSettings(home: string): Promise<DesktopSettings> {
  try {
    return schema.parse(JSON.parse(await readFile(pathIn(home), 'utf8')))
  } catch {
    return schema.parse({})
  }
}

export async function saveDesktopSettings(home: string, chosen: DesktopSettings): Promise<void> {
  await writeFileAtomic(pathIn(home), `${JSON.stringify(chosen, null, 2)}\n`, { mode: 0o600 })
}
