/** An invite as a file is read like its link, and never further than a link goes. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { inviteFileAmong, inviteFileName, readInviteFile } from '../../../main/desktop/person/invite-files.ts'
import { goodLink, hostileLinks } from '../harness/hostile-links.ts'

const folder = mkdtempSync(join(tmpdir(), 'rookery-invites-'))
afterAll(() => {
  rmSync(folder, { recursive: true })
})

const read = (content: string) => {
  const path = join(folder, 'x.rookery-invite')
  writeFileSync(path, content)
  return readInviteFile(path, Date.now())
}

describe('an invite as a file', () => {
  it('is found among arguments, and no flag is one', () => {
    expect(inviteFileAmong(['/opt/rookery', '--x=/a.rookery-invite', '/b.ROOKERY-INVITE'], '/c')).toBe(
      '/b.ROOKERY-INVITE',
    )
    expect(inviteFileAmong(['/opt/rookery', '/home/me/rookery-invite'], '/c')).toBeUndefined()
  })

  it('may be named from a folder, or by a URL as file managers do', () => {
    expect(
      ['b.rookery-invite', 'file:///a%20b/c.rookery-invite', 'file://elsewhere/c.rookery-invite'].map(
        (name) => inviteFileAmong([name], '/c'),
      ),
    ).toEqual(['/c/b.rookery-invite', '/a b/c.rookery-invite', undefined])
  })

  it('has a name that every file system takes', () => {
    expect(['digits', '../a/b: c?', '…', 'é'.repeat(99)].map(inviteFileName)).toEqual([
      'digits.rookery-invite',
      'a b c.rookery-invite',
      'job.rookery-invite',
      `${'é'.repeat(60)}.rookery-invite`,
    ])
  })

  it('is the link that it holds', async () => {
    expect(await read(`${goodLink}\r\n`)).toEqual({ type: 'invite', invite: goodLink })
  })

  it('is refused where the link would be, and where it is longer than any link', async () => {
    for (const link of hostileLinks) expect((await read(link)).type).toBe('refused')
    for (const more of [' ', 'x'])
      expect((await read(`${goodLink}\n${more.repeat(1e6)}`)).type).toBe('refused')
  })

  it('that is not there, or a folder, is refused with a sentence', async () => {
    for (const path of [join(folder, 'none.rookery-invite'), folder])
      expect(await readInviteFile(path, 0)).toEqual({
        type: 'refused',
        sentence: `the file ${path} cannot be read; ask the host for the link instead`,
      })
  })
})
