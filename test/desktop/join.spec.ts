/** A friend's evening: an invite, a question, a job, a pause from the tray, a battery, a crash, and the end of the day. */
import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JobView, Snapshot } from '../../shared/messages/control.ts'
import {
  agentPid,
  cli,
  clickTray,
  type DesktopApp,
  makeHome,
  openRunningApp,
  startAgain,
  trayOf,
} from './harness/desktop-app.ts'
import { type DigitsHost, startHost } from './harness/digits-host.ts'

const patient = { timeout: 120_000, interval: 500 }

describe('a friend with an invite', () => {
  let host: DigitsHost
  let desktop: DesktopApp
  beforeAll(async () => {
    host = await startHost(2, 100_000)
    desktop = await openRunningApp({ home: makeHome({ displayName: 'kitchen-laptop' }) })
  })
  afterAll(async () => {
    await desktop.close()
    await host.end()
  })

  const snapshot = async (): Promise<Snapshot | undefined> => {
    const answer = await desktop.page.evaluate(() => window.rookery.status({}))
    return answer.ok ? answer.output : undefined
  }
  const phase = async (): Promise<JobView['phase'] | undefined> => (await snapshot())?.job?.phase
  const desktopState = async () => {
    const answer = await desktop.page.evaluate(() => window.rookery.desktopState({}))
    return answer.ok ? answer.output : undefined
  }
  const updates = async (): Promise<number> => (await snapshot())?.job?.updates ?? 0

  const setPower = (battery: boolean) =>
    desktop.app.evaluate(({ powerMonitor }, on) => {
      powerMonitor.isOnBatteryPower = () => on
      powerMonitor.emit(on ? 'on-battery' : 'on-ac')
    }, battery)

  /** Notifications, as title and text, from now on. */
  const recordNews = () =>
    desktop.app.evaluate(({ Notification }) => {
      const told: string[] = []
      Object.assign(globalThis, { told })
      Notification.prototype.show = function (this: Electron.Notification) {
        told.push(`${this.title}: ${this.body}`)
      }
    })
  const news = () => desktop.app.evaluate(() => (globalThis as unknown as { told: string[] }).told)

  it('starts for the first time: nothing runs, and a pasted invite becomes a card that joins nothing', async () => {
    await desktop.page.getByRole('heading', { name: 'Nothing is running' }).waitFor()
    await desktop.page.getByLabel('Invite link').fill(host.invite)
    await desktop.page.keyboard.press('Enter')
    await desktop.page
      .getByRole('heading', { name: 'Join garage-tower’s pool?' })
      .waitFor({ timeout: 60_000 })
    expect((await snapshot())?.job).toBeNull()
  })

  it('hands the link of a second start over to the running one, which asks again and joins nothing', async () => {
    const { home, page } = desktop
    await page.getByRole('button', { name: 'Not now' }).click()
    await page.getByRole('heading', { name: 'Nothing is running' }).waitFor()
    expect(await startAgain(home, host.invite)).toBe(0)
    await page.getByRole('heading', { name: 'Join garage-tower’s pool?' }).waitFor({ timeout: 60_000 })
    expect(await desktopState()).toMatchObject({ agent: 'running', pendingInvite: host.invite })
    expect((await snapshot())?.job).toBeNull()
  })

  it('joins and trains: the curve moves, and the tray shows it', async () => {
    const { app, page } = desktop
    await page.getByRole('button', { name: 'Join and start training' }).click()
    await expect.poll(phase, patient).toBe('training')
    await expect.poll(async () => (await desktopState())?.pendingInvite, patient).toBeNull()
    const curve = page.getByRole('img', { name: /^Loss (fell|went) from/ })
    await curve.waitFor({ timeout: 60_000 })
    const before = await curve.getAttribute('aria-label')
    await expect.poll(() => curve.getAttribute('aria-label'), patient).not.toBe(before)
    expect(await curve.locator('canvas').count()).toBe(1)
    await expect.poll(async () => (await trayOf(app)).icon, patient).toBe('training')
  })

  it('tells a hidden window nothing, and a shown one the newest', async () => {
    const { app, page } = desktop
    const told = await page.evaluateHandle(() => {
      const heard: number[] = []
      window.rookery.onSnapshot(({ job }) => heard.push(job?.updates ?? 0))
      return heard
    })
    const heard = () => told.evaluate((all) => all.length)
    const last = () => told.evaluate((all) => all.at(-1) ?? 0)
    await app.evaluate(({ BrowserWindow }) => {
      BrowserWindow.getAllWindows()[0]?.hide()
    })
    // An answer overtakes nothing: what was told before the window hid has arrived when this has.
    const done = await updates()
    const before = await heard()
    await expect.poll(updates, patient).toBeGreaterThan(done + 20)
    expect(await heard()).toBe(before)
    await clickTray(app, 'open')
    await expect.poll(last, patient).toBeGreaterThan(done + 20)
  })

  it('pauses from the tray: window, tray and command line say the same', async () => {
    const { app, home, page } = desktop
    const paused = { pausedByUser: { untilMs: null }, job: { phase: 'paused' } }
    await clickTray(app, 'toggle')
    await expect.poll(snapshot, patient).toMatchObject(paused)
    expect(cli(home, 'status')).toMatchObject(paused)
    await expect
      .poll(() => trayOf(app), patient)
      .toMatchObject({ icon: 'paused', tooltip: 'Rookery: Paused: you paused it' })
    await page.getByRole('navigation').getByRole('link', { name: 'Home' }).click()
    await page.getByRole('heading', { name: 'Paused until you resume' }).waitFor()
    await clickTray(app, 'toggle')
    await expect.poll(snapshot, patient).toMatchObject({ pausedByUser: null, job: { phase: 'training' } })
    expect(cli(home, 'status')).toMatchObject({ pausedByUser: null, job: { phase: 'training' } })
    await expect.poll(async () => (await trayOf(app)).icon, patient).toBe('training')
    await page.getByRole('heading', { name: 'Training “digits”' }).waitFor()
  })

  it('rests on battery and goes on at the socket', async () => {
    const { app, page } = desktop
    await setPower(true)
    await expect.poll(phase, patient).toBe('paused')
    await expect.poll(async () => (await trayOf(app)).icon, patient).toBe('paused')
    await page.getByText('Paused by your limit').waitFor()
    await setPower(false)
    await expect.poll(phase, patient).toBe('training')
    await expect.poll(async () => (await trayOf(app)).icon, patient).toBe('training')
  })

  it('says that the agent was killed, and starts it again', async () => {
    const { home, page } = desktop
    await recordNews()
    // It says so for the second until it starts again: noted as it is drawn, not looked up afterwards.
    const said = await page.evaluateHandle(() => {
      const texts: string[] = []
      const note = () => texts.push(document.querySelector('main')?.innerText ?? '')
      new MutationObserver(note).observe(document.body, { subtree: true, childList: true })
      return texts
    })
    const before = agentPid(home)
    process.kill(before, 'SIGKILL')
    await expect
      .poll(() => said.evaluate((texts) => texts.join('\n')), patient)
      .toMatch(/The agent stopped and starts again.*\s+It was ended from outside \(SIGKILL\)\./)
    await expect.poll(async () => (await desktopState())?.agent, patient).toBe('running')
    expect(agentPid(home)).not.toBe(before)
    await page.getByText('The agent stopped and starts again').waitFor({ state: 'detached' })
  })

  it('asks the job to have it back, and trains again', async () => {
    await expect.poll(phase, patient).toBe('training')
    await expect.poll(async () => (await trayOf(desktop.app)).icon, patient).toBe('training')
    await desktop.page.getByRole('heading', { name: 'Training “digits”' }).waitFor()
    expect(await news()).toEqual([])
  })

  it('closes the window to the tray: nothing stops, and opening shows it again', async () => {
    const { app } = desktop
    const seen = () =>
      app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().map((one) => one.isVisible()))
    await app.evaluate(({ BrowserWindow }) => {
      BrowserWindow.getAllWindows()[0]?.close()
    })
    expect(await seen()).toEqual([false])
    expect(agentPid(desktop.home)).toBeGreaterThan(0)
    await clickTray(app, 'open')
    expect(await seen()).toEqual([true])
  })

  it('quits from the tray only after the agent has ended in order', async () => {
    const { app, home } = desktop
    const gone = app.waitForEvent('close')
    await clickTray(app, 'quit')
    await gone
    expect(existsSync(`${home}/agent.pid`)).toBe(false)
    expect(existsSync(`${home}/control.json`)).toBe(false)
  })
})
