import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { lockHome, openHome } from '../../../main/edge/store/home.ts'
import { temporaryFolder } from './fixtures.ts'

async function holdElsewhere(home: string) {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'hold-home.ts'), home])
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return child
}

describe('the home folder', () => {
  it('is made for its user only', async () => {
    const home = await openHome(join(await temporaryFolder(), 'a', 'home'))
    expect((await stat(home)).mode & 0o777).toBe(0o700)
  })

  it('comes from the environment when none is named', async () => {
    const folder = await temporaryFolder()
    vi.stubEnv('ROOKERY_HOME', folder)
    onTestFinished(() => void vi.unstubAllEnvs())
    expect(await openHome()).toBe(folder)
  })

  it('that is a file is refused in one sentence', async () => {
    const path = join(await temporaryFolder(), 'file')
    await writeFile(path, '')
    await expect(openHome(path)).rejects.toMatchObject({ code: 'invalid-input' })
    await expect(openHome(join(path, 'below'))).rejects.toThrow(/choose a folder that you may write to/)
  })
})

describe('the lock of a home', () => {
  it('is given to one agent at a time, in this process and in others', async () => {
    const home = await temporaryFolder()
    const child = await holdElsewhere(home)
    await expect(lockHome(home)).rejects.toMatchObject({
      code: 'already-in-use',
      message: expect.stringContaining(`process ${child.pid ?? 0}`) as string,
    })
    const other = await temporaryFolder()
    const held = await lockHome(other)
    await expect(lockHome(other)).rejects.toMatchObject({ code: 'already-in-use' })
    await held.release()
    await (await lockHome(other)).release()
  })

  it('is taken over from an agent that was killed', async () => {
    const home = await temporaryFolder()
    const child = await holdElsewhere(home)
    child.kill('SIGKILL')
    await once(child, 'exit')
    // It gives up after 8 seconds of its own accord.
    await (await lockHome(home)).release()
  })
})
