/** What holds for the window as a whole: faults beside their cause, states as they come, nothing while hidden, size. */
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jobFile } from '../../../shared/job/spec.ts'
import { limits as limitsSchema } from '../../../shared/limits.ts'
import { snapshot as snapshotSchema } from '../../../shared/messages/control.ts'
import { drawn, openWindows } from '../chromium-window.ts'
import type { View, WindowInChromium } from '../chromium-window.ts'
import * as answers from '../fixtures/answers.ts'
import { scenes } from '../fixtures/scenes.ts'
import type { Scene } from '../fixtures/scenes.ts'
import * as snapshots from '../fixtures/snapshots.ts'

const view: View = { width: 900, height: 640, scheme: 'light' }
const mostKilobytes = 120

const sceneOf = (name: string): Scene => {
  const found = scenes.find((scene) => scene.name === name)
  if (found === undefined) throw new RangeError(`no scene ${name}`)
  return found
}

const push = (page: Page, kind: 'snapshot' | 'desktop', state: unknown) =>
  page.evaluate(
    ([which, value]) => {
      fake.push(which, value)
    },
    [kind, state] as const,
  )

const fail = (page: Page, name: string, message: string) =>
  page.evaluate(
    ([command, text]) => {
      fake.failures[command] = { kind: 'bad-input', code: 'invalid', message: text }
    },
    [name, message] as const,
  )

const callsOf = (page: Page, name: string) =>
  page.evaluate((wanted) => fake.calls.filter((call) => call.name === wanted).map(({ input }) => input), name)

/** Runs in the page: as if another window covered this one. */
function hide(hidden: boolean): void {
  Object.defineProperty(document, 'visibilityState', {
    value: hidden ? 'hidden' : 'visible',
    configurable: true,
  })
  document.dispatchEvent(new Event('visibilitychange'))
}

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
    for (const { snapshot } of scenes) if (snapshot !== null) snapshotSchema.parse(snapshot)
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
    await page.context().close()
  })

  it('opens the card of a link from outside and forgets it on “Not now”', async () => {
    const { page } = await windows.open(sceneOf('join-card'), view)
    await page.getByRole('button', { name: 'Not now' }).click()
    await page.waitForURL(/#home$/)
    expect(await callsOf(page, 'join')).toEqual([])
    expect(await callsOf(page, 'dismissInvite')).toHaveLength(1)
    await page.context().close()
  })

  it('sends one changed limit and refuses a number that is none', async () => {
    const { page } = await windows.open(sceneOf('limits'), view)
    const upload = page.getByLabel('Upload in MB/s')
    await upload.fill('fast')
    await upload.blur()
    await page.getByText('Type a number from 0.01 to 100000.').waitFor()
    await upload.fill('2.5')
    await upload.blur()
    expect(await callsOf(page, 'setLimits')).toEqual([{ uploadBytesPerSecond: 2_500_000 }])
    await page.context().close()
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
    await page.context().close()
  })

  it('launches a job that the schema of jobs accepts', async () => {
    const { page } = await windows.open(sceneOf('host-forecast'), view)
    await page.getByRole('button', { name: 'Open the job and get the invite' }).click()
    const [sent] = (await callsOf(page, 'host')) as [{ job: unknown }]
    expect(jobFile.parse(sent.job)).toEqual(sent.job)
    await page.context().close()
  })

  it('asks before it removes a member, and the first answer is to keep it', async () => {
    const { page } = await windows.open(sceneOf('host-members'), view)
    await page.getByRole('button', { name: 'Remove… attic-pc' }).click()
    await page.keyboard.press('Enter')
    expect(await callsOf(page, 'removeMember')).toEqual([])
    await page.getByRole('button', { name: 'Remove… attic-pc' }).click()
    await page.getByRole('button', { name: 'Remove this PC' }).click()
    expect(await callsOf(page, 'removeMember')).toHaveLength(1)
    await page.context().close()
  })

  it('follows the states it is told: training, lost, agent stopped', async () => {
    const { page } = await windows.open(sceneOf('job'), view)
    await push(page, 'snapshot', snapshots.lost)
    await page.getByText('office-thinkpad is lost').waitFor()
    await push(page, 'desktop', answers.desktopStopped)
    await page.getByText('The agent stopped and starts again in 8 s').waitFor()
    await page.clock.setFixedTime(snapshots.fixtureNow + 3000)
    await page.getByText('The agent stopped and starts again in 5 s').waitFor()
    await page.context().close()
  })

  it('draws nothing and runs no timer while it is hidden, and shows the newest state when it is seen again', async () => {
    const { page } = await windows.open(sceneOf('job'), view)
    const intervals = () => page.evaluate(() => [...fake.intervals.values()])
    expect(await intervals()).toEqual([1000])
    await page.evaluate(hide, true)
    expect(await intervals()).toEqual([])
    const before = await page.evaluate(() => document.body.innerHTML)
    await push(page, 'snapshot', snapshots.lost)
    await drawn(page)
    expect(await page.evaluate(() => document.body.innerHTML)).toBe(before)
    await page.evaluate(hide, false)
    await page.getByText('office-thinkpad is lost').waitFor()
    await page.context().close()
  })
})
