/** `app://rookery/` serves the files of one folder and nothing beside it. */
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { fileInside, serveFile } from '../../../main/desktop/window/app-protocol.ts'

let folder: string
beforeAll(async () => {
  const parent = await mkdtemp(join(tmpdir(), 'rookery-protocol-'))
  folder = join(parent, 'window')
  await mkdir(join(folder, 'assets'), { recursive: true })
  await writeFile(join(folder, 'assets/main-1_a.js'), 'run()')
  await writeFile(join(folder, 'secret'), 'no type, no answer')
  await writeFile(join(parent, 'secret.js'), 'outside')
})

describe('the window’s own scheme', () => {
  it('serves a file with its type and a policy that allows nothing inline', async () => {
    const response = await serveFile(folder, 'app://rookery/assets/main-1_a.js?v=1')
    expect(await response.text()).toBe('run()')
    expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(/^default-src 'none';/)
    expect(policy).not.toMatch(/unsafe|\*|https?:/)
  })

  it.each([
    'app://rookery/../secret.js',
    'app://rookery/assets/../../secret.js',
    'app://rookery/%2e%2e/secret.js',
    'app://rookery/..%2fsecret.js',
    String.raw`app://rookery/..\secret.js`,
    'app://rookery/assets//main-1_a.js',
    'app://rookery//etc/passwd',
    'app://rookery/.secret.js',
    'app://rookery/secret',
    'app://rookery/missing.js',
    'app://rookery/assets',
    'app://rookery/',
    'app://rookery',
    'app://other/assets/main-1_a.js',
    'file:///etc/passwd',
    'app://rookery/a\0.js',
  ])('answers 404 to %s', async (url) => {
    expect((await serveFile(folder, url)).status).toBe(404)
  })

  it('names no path outside its folder, whatever is asked', () => {
    expect(fileInside('/app/window', 'app://rookery/x/y.css')).toBe('/app/window/x/y.css')
    expect(fileInside('/app/window', 'app://rookery/x/../../y.css')).toBeUndefined()
  })
})
