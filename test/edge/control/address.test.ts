import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { InvalidInputError } from '../../../shared/errors.ts'
import { controlAddress, prepareSocketFolder } from '../../../main/edge/control/address.ts'

const linux = { platform: 'linux' as const, temporaryFolder: '/tmp', user: 501 }

describe('the control address', () => {
  it('lies inside a home with a short path', () => {
    expect(controlAddress('/home/a', linux)).toEqual({ path: '/home/a/agent.sock', kind: 'inside-home' })
  })

  it('lies in the temporary folder of the user when the path of the home is too long for a socket', () => {
    const address = controlAddress(`/home/${'a'.repeat(100)}`, linux)
    expect(address.kind).toBe('temporary')
    expect(address.path).toMatch(/^\/tmp\/rookery-501\/[0-9a-f]{20}\.sock$/)
  })

  it('counts bytes, not letters', () => {
    expect(controlAddress(`/home/${'ü'.repeat(50)}`, linux).kind).toBe('temporary')
  })

  it('differs between homes', () => {
    const windows = { ...linux, platform: 'win32' as const }
    const first = controlAddress('/a', windows).path
    expect(first).toMatch(/^\\\\\.\\pipe\\rookery-[0-9a-f]{20}$/)
    expect(controlAddress('/b', windows).path).not.toBe(first)
  })

  it('says so when nothing is short enough', () => {
    const long = { ...linux, temporaryFolder: `/tmp/${'t'.repeat(100)}` }
    expect(() => controlAddress(`/home/${'a'.repeat(100)}`, long)).toThrow(InvalidInputError)
  })
})

describe('the folder of a temporary socket', () => {
  it('is refused when others may open it', async () => {
    const around = await mkdtemp(join(tmpdir(), 'rookery-test-'))
    const address = { path: join(around, 'mine', 'a.sock'), kind: 'temporary' as const }
    await prepareSocketFolder(address)
    await prepareSocketFolder(address)
    await chmod(dirname(address.path), 0o755)
    await expect(prepareSocketFolder(address)).rejects.toThrow(InvalidInputError)
    await rm(around, { recursive: true })
  })
})
