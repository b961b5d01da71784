import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadSettings, saveSettings } from '../../../main/edge/store/settings-file.ts'
import { readSettings } from '../../../shared/settings.ts'
import { temporaryFolder } from './fixtures.ts'

describe('the settings file', () => {
  it('is the defaults while it is missing, and then what was saved', async () => {
    const home = await temporaryFolder()
    expect(await loadSettings(home)).toEqual(readSettings({}))
    const changed = { ...readSettings({}), displayName: 'attic' }
    await saveSettings(home, changed)
    expect(await loadSettings(home)).toEqual(changed)
    expect(await readdir(home)).toEqual(['settings.json'])
  })

  it.each([
    ['{ "displayName": ', /settings.json" is not JSON/],
    ['[]', /should hold one JSON object/],
    ['{"version":1,"network":{"port":-1}}', /settings.json" is not usable: settings: network.port/],
    ['{"version":99}', /version/],
    ['{"version":1,"colour":"red"}', /colour/],
  ])('%s is refused and left as it is', async (text, message) => {
    const home = await temporaryFolder()
    await writeFile(join(home, 'settings.json'), text)
    await expect(loadSettings(home)).rejects.toThrow(message)
    await expect(loadSettings(home)).rejects.toMatchObject({ code: 'invalid-input' })
    expect(await readFile(join(home, 'settings.json'), 'utf8')).toBe(text)
  })
})
