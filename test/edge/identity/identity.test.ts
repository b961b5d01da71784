/** An agent is the same peer after every restart, and never silently another. */
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createIdentity, openIdentity } from '../../../main/edge/identity/identity.ts'
import { InvalidInputError } from '../../../shared/errors.ts'

let home: string
let path: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'rookery-identity-'))
  path = join(home, 'deep', 'identity.json')
})
afterEach(async () => {
  await rm(home, { recursive: true })
})

describe('an identity', () => {
  it('is made once and is the same ever after', async () => {
    const first = await openIdentity(path)
    const again = await openIdentity(path)
    expect(again.peer).toBe(first.peer)
    expect(again.privateKey.equals(first.privateKey)).toBe(true)
    expect(await readdir(join(home, 'deep'))).toEqual(['identity.json'])
  })

  it.skipIf(process.platform === 'win32')('is readable by its user only', async () => {
    await openIdentity(path)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  it.each([
    '',
    '{',
    '{"version":1}',
    '{"version":1,"privateKey":"AAAA"}',
    '{"version":2,"privateKey":"CAESQA=="}',
  ])('whose file holds %j is refused and left as it was', async (text) => {
    const file = join(home, 'identity.json')
    await writeFile(file, text)
    await expect(openIdentity(file)).rejects.toThrow(InvalidInputError)
    await expect(openIdentity(file)).rejects.toThrow('is damaged: restore it from a backup')
    expect(await readFile(file, 'utf8')).toBe(text)
  })

  it('in a folder instead of a file is refused in one sentence', async () => {
    await expect(openIdentity(home)).rejects.toThrow(/^the identity file .* cannot be read/)
  })

  it('of another agent is another', async () => {
    expect((await createIdentity()).peer).not.toBe((await createIdentity()).peer)
  })
})
