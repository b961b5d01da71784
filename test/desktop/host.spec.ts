/** A host's evening: data, wizard, invite, a friend, training, a model that is taken along and answers. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Snapshot } from '../../shared/messages/control.ts'
import { clickTray, type DesktopApp, openRunningApp, root, trayOf } from './harness/desktop-app.ts'
import { type Friend, startFriend } from './harness/digits-host.ts'

const patient = { timeout: 120_000, interval: 500 }
const digits = join(root, 'resources/samples/digits.csv.gz')
/** One handwritten digit: 8 × 8 values from 0 to 16. */
const aZero =
  '0,0,5,13,9,1,0,0,0,0,13,15,10,15,5,0,0,3,15,2,0,11,8,0,0,4,12,0,0,8,8,0,0,5,8,0,0,9,8,0,0,4,11,0,1,12,7,0,0,2,14,5,10,12,0,0,0,0,6,13,10,0,0,0'

describe('a host', () => {
  let desktop: DesktopApp
  let friend: Friend | undefined
  let page: Page
  const folder = mkdtempSync(join(tmpdir(), 'rookery-export-'))
  const exported = join(folder, 'digits-model')

  beforeAll(async () => {
    desktop = await openRunningApp()
    page = desktop.page
    // The person picks these in the system's dialogs.
    await desktop.app.evaluate(
      ({ dialog }, [data, model]) => {
        dialog.showOpenDialog = () => Promise.resolve({ canceled: false, filePaths: [data!] })
        dialog.showSaveDialog = () => Promise.resolve({ canceled: false, filePath: model! })
      },
      [digits, exported],
    )
  })
  afterAll(async () => {
    await friend?.end()
    await desktop.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const button = (name: RegExp | string) => page.getByRole('button', { name })
  const job = async (): Promise<Snapshot['job']> => {
    const answer = await page.evaluate(() => window.rookery.status({}))
    return answer.ok ? answer.output.job : null
  }

  it('picks a file, sees what is in it, and launches the job in five steps', async () => {
    await page.getByRole('link', { name: 'Host', exact: true }).click()
    await button('Choose a file…').first().click()
    await page.getByText('What the pool would see').waitFor({ timeout: 60_000 })
    for (const step of [/^Next: model/, /^Next: recipe/, /^Next: who may join/, /^Next: forecast/])
      await button(step).click()
    await page.getByText('Time to finish').waitFor({ timeout: 60_000 })
    await button('Open the job and get the invite').click()
    await expect.poll(async () => (await job())?.phase, patient).toBe('gathering')
  })

  it('hands out the invite from the tray, and a friend comes', async () => {
    await clickTray(desktop.app, 'copy-invite')
    const invite = await desktop.app.evaluate(({ clipboard }) => clipboard.readText())
    expect(invite).toBe((await job())?.invite)
    friend = await startFriend(invite)
    await expect.poll(async () => (await job())?.members.length, patient).toBe(2)
    await page.getByRole('rowheader', { name: /attic-pc/ }).waitFor()
  })

  it('starts now: the pool trains, and the curve moves', async () => {
    await button('Start now').click()
    await expect.poll(async () => (await job())?.phase, patient).toBe('training')
    await expect.poll(async () => (await job())?.trainingCurve.length, patient).toBeGreaterThan(3)
    expect((await trayOf(desktop.app)).icon).toBe('training')
  })

  it('stops and keeps the model', async () => {
    await button('Stop and keep the model…').click()
    await button(/^Stop and keep the model$/).click()
    await expect.poll(async () => (await job())?.result?.outcome, patient).toBe('stopped')
    const model = (await job())?.result?.model ?? ''
    expect(readdirSync(model).sort()).toEqual(['model.json', 'model.safetensors', 'report.json'])
  })

  it('exports the model and asks it', async () => {
    await button('Export…').click()
    await page.getByText(`Saved in ${exported}.`).waitFor({ timeout: 60_000 })
    expect(readFileSync(join(exported, 'model.safetensors'))).toEqual(
      readFileSync(join((await job())?.result?.model ?? '', 'model.safetensors')),
    )
    const asked = join(folder, 'zero.csv')
    writeFileSync(asked, `${aZero}\n`)
    await page.getByLabel(/path of a file/).fill(asked)
    await button('Ask the model').click()
    const answer = page.getByRole('status').filter({ hasText: '%' })
    await answer.waitFor({ timeout: 60_000 })
    expect(await answer.innerText()).toMatch(/^zero\.csv: \d \d+%/)
    expect(desktop.consoleErrors).toEqual([])
  })
})
