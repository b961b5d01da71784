/** Starting with the session is on or off by the person's word alone. */
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { setAutostart } from '../../../main/desktop/person/autostart.ts'

function setUp(platform: NodeJS.Platform, executable = '/opt/Rookery/rookery-desktop') {
  const configFolder = mkdtempSync(join(tmpdir(), 'rookery-autostart-'))
  const asked: unknown[] = []
  const app = { setLoginItemSettings: (settings: unknown) => void asked.push(settings) }
  return {
    asked,
    entry: join(configFolder, 'autostart/rookery.desktop'),
    set: (on: boolean) => setAutostart(on, { app, platform, executable, configFolder }),
  }
}

describe('starting with the session', () => {
  it('is an entry of the desktop on Linux, hidden in the tray, and gone when it is switched off', async () => {
    const { set, entry, asked } = setUp('linux')
    await set(true)
    const lines = readFileSync(entry, 'utf8').split('\n')
    expect(lines[0]).toBe('[Desktop Entry]')
    expect(lines).toContain('Exec="/opt/Rookery/rookery-desktop" --hidden')
    expect(lines).toContain('Icon=rookery-desktop')
    await set(false)
    await set(false)
    expect(existsSync(entry)).toBe(false)
    expect(asked).toEqual([])
  })

  it('writes a path that a desktop would misread with its escapes', async () => {
    const { set, entry } = setUp('linux', '/home/me/My $Apps/100%/a"b\\c.AppImage')
    await set(true)
    expect(readFileSync(entry, 'utf8')).toContain(
      String.raw`Exec="/home/me/My \\$Apps/100%%/a\\"b\\\\c.AppImage" --hidden`,
    )
  })

  it.each(['win32', 'darwin'] as const)('is a login item of the system on %s', async (platform) => {
    const { set, entry, asked } = setUp(platform)
    await set(true)
    await set(false)
    expect(asked).toEqual([
      { openAtLogin: true, args: ['--hidden'] },
      { openAtLogin: false, args: ['--hidden'] },
    ])
    expect(existsSync(entry)).toBe(false)
  })
})
