/** What holds for the window as a whole: faults beside their cause, states as they come, size. */
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jobFile } from '../../../shared/job/spec.ts'
import { limits as limitsSchema } from '../../../shared/limits.ts'
import { snapshot as snapshotSchema } from '../../../shared/messages/control.ts'
import { openWindows, push } from '../chromium-window.ts'
import type { View, WindowInChromium } from '../chromium-window.ts'
import * as answers from '../fixtures/answers.ts'
import { hardScenes } from '../fixtures/hard-scenes.ts'
import { sceneOf, scenes } from '../fixtures/scenes.ts'
import * as snapshots from '../fixtures/snapshots.ts'

const view: View = { width: 900, height: 640, scheme: 'light' }
const mostKilobytes = 120

const fail = (page: Page, name: string, message: string) =>
  page.evaluate(
    ([command, text]) => {
      fake.failures[command] = { kind: 'bad-input', code: 'invalid', message: text }
    },
    [name, message] as const,
  )

const callsOf = (page: Page, name: string) =>
  page.evaluate((wanted) => fake.calls.filter((call) => call.name === wanted).map(({ input }) => input), name)

let windows: WindowInChromium
beforeAll(async () => {
  windows = await openWindows()
})
afterAll(() => windows.close())

describe('the window', () => {
  it('is at most 120 kB of gzip', () => {
    const bytes = [...windows.files.values()].reduce((sum, file) => sum + gzipSync(file).length, 0)
    expect(bytes / 1000).toBeLessThan(mostKilobytes)
  })

  it('is shown fixtures that the contracts allow', () => {
    for (const { snapshot } of [...scenes, ...hardScenes])
      if (snapshot !== null) snapshotSchema.parse(snapshot)
    limitsSchema.parse(answers.limits)
  })

  it('says why a command failed in one sentence beside what caused it', async () => {
    const { page } = await windows.open(sceneOf('join'), view)
    await fail(page, 'preview', 'this invite has expired: ask the host for a new one')
    await page.getByLabel('Invite link').fill('rookery://join/old')
    await page.getByRole('button', { name: 'Look at it' }).click()
    const alert = page.locator('form').getByRole('alert')
    await alert.waitFor()
    expect(await alert.textContent()).toBe('This invite has expired: ask the host for a new one.')
    await page.close()
  })

  it.each([
    [
      'limits-fails',
      '[aria-label=Battery]',
      'The agent is shutting down: start it again, then try once more.',
    ],
    ['job-leave-fails', '.head', 'The agent is shutting down: start it again, then try once more.'],
    ['trouble-fails', '.tools > li:first-child', 'There is no room left on /home/mia: choose another place.'],
    [
      'host-launch-fails',
      '.foot',
      'This job needs 4.1 GB of memory and this PC lends 2.0 GB: raise the limit or wait for friends.',
    ],
  ])('says of %s in %s, and nowhere else, why it failed', async (name, place, sentence) => {
    const { page } = await windows.open(sceneOf(name, hardScenes), view)
    expect(await page.locator(place).getByRole('alert').allTextContents()).toEqual([sentence])
    expect(await page.getByRole('alert').count()).toBe(1)
    await page.close()
  })

  it('opens the card of a link from outside and forgets it on “Not now”', async () => {
    const { page } = await windows.open(sceneOf('join-card'), view)
    await page.getByRole('button', { name: 'Not now' }).click()
    await page.waitForURL(/#home$/)
    expect(await callsOf(page, 'join')).toEqual([])
    expect(await callsOf(page, 'dismissInvite')).toHaveLength(1)
    await page.close()
  })

  it('sends one changed limit and refuses a number that is none', async () => {
    const { page } = await windows.open(sceneOf('limits'), view)
    const upload = page.getByLabel('Upload in MB/s')
    await upload.fill('fast')
    await upload.blur()
    await page.getByText('Type a number from 0.01 to 100,000.').waitFor()
    await upload.fill('2.5')
    await upload.blur()
    expect(await callsOf(page, 'setLimits')).toEqual([{ uploadBytesPerSecond: 2_500_000 }])
    await page.close()
  })

  it('sends the nights of one weekday as hours of that day', async () => {
    const { page } = await windows.open(sceneOf('limits-hours'), view)
    await page.getByLabel('Saturday: when').selectOption('From – to')
    const [sent] = (await callsOf(page, 'setLimits')) as [{ hours: unknown[] }]
    expect(sent.hours[5]).toEqual([
      [0, 420],
      [1260, 1440],
    ])
    expect(limitsSchema.partial().safeParse(sent).success).toBe(true)
    await page.close()
  })

  it('launches a job that the schema of jobs accepts', async () => {
    const { page } = await windows.open(sceneOf('host-forecast'), view)
    await page.getByRole('button', { name: 'Open the job and get the invite' }).click()
    const [sent] = (await callsOf(page, 'host')) as [{ job: unknown }]
    expect(jobFile.parse(sent.job)).toEqual(sent.job)
    await page.close()
  })

  it('asks before it removes a member, and the first answer is to keep it', async () => {
    const { page } = await windows.open(sceneOf('host-members'), view)
    await page.getByRole('button', { name: 'Remove… attic-pc' }).click()
    await page.keyboard.press('Enter')
    expect(await callsOf(page, 'removeMember')).toEqual([])
    await page.getByRole('button', { name: 'Remove… attic-pc' }).click()
    await page.getByRole('button', { name: 'Remove this PC' }).click()
    expect(await callsOf(page, 'removeMember')).toHaveLength(1)
    await page.close()
  })

  it('follows the states it is told: training, lost, agent stopped', async () => {
    const { page } = await windows.open(sceneOf('job'), view)
    await push(page, 'snapshot', snapshots.lost)
    await page.getByText('office-thinkpad is lost').waitFor()
    await push(page, 'desktop', answers.desktopStopped)
    await page.getByText('The next try is in 8 s.').waitFor()
    await page.clock.setFixedTime(snapshots.fixtureNow + 3000)
    await page.getByText('The next try is in 5 s.').waitFor()
    await page.close()
  })
})
