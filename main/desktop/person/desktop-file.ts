/** What the person chose for the desktop: `desktop.json` in the home folder. The agent's settings are the agent's. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { desktopSettings, type DesktopSettings } from '../../../shared/desktop-settings.ts'

const pathIn = (home: string): string => join(home, 'desktop.json')

/** A missing or damaged file is no reason not to start: its defaults hold. */
export async function loadDesktopSettings(home: string): Promise<DesktopSettings> {
  try {
    return desktopSettings.parse(JSON.parse(await readFile(pathIn(home), 'utf8')))
  } catch {
    return desktopSettings.parse({})
  }
}

export async function saveDesktopSettings(home: string, chosen: DesktopSettings): Promise<void> {
  await writeFileAtomic(pathIn(home), `${JSON.stringify(chosen, null, 2)}\n`, { mode: 0o600 })
}
