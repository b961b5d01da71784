/** A friend's evening: a link, a question, a job, a pause from the tray, a battery, a crash, and the end of the day. */
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

  it('opens the link while Rookery runs: the running one shows it and joins nothing', async () => {
    expect(await startAgain(desktop.home, host.invite)).toBe(0)
    await expect.poll(async () => (await desktopState())?.pendingInvite, patient).toBe(host.invite)
    expect((await snapshot())?.job).toBeNull()
  })

  it('reads the card, joins, and trains', async () => {
    await desktop.page
      .getByRole('heading', { name: 'Join garage-tower’s pool?' })
      .waitFor({ timeout: 60_000 })
    await desktop.page.getByRole('button', { name: 'Join and start training' }).click()
    await expect.poll(phase, patient).toBe('training')
    await expect.poll(async () => (await desktopState())?.pendingInvite, patient).toBeNull()
    await expect.poll(updates, patient).toBeGreaterThan(2)
    await expect.poll(async () => (await trayOf(desktop.app)).icon, patient).toBe('training')
  })

  it('pauses from the tray: window, tray and command line say the same', async () => {
    await clickTray(desktop.app, 'toggle')
    await expect.poll(phase, patient).toBe('paused')
    await expect.poll(async () => (await trayOf(desktop.app)).icon, patient).toBe('paused')
    expect(cli(desktop.home, 'status')).toMatchObject({ job: { phase: 'paused' } })
    expect(await desktop.page.getByText('Paused').count()).toBeGreaterThan(0)
    await clickTray(desktop.app, 'toggle')
    await expect.poll(phase, patient).toBe('training')
    await expect.poll(async () => (await trayOf(desktop.app)).icon, patient).toBe('training')
  })

  it('rests on battery and goes on at the socket', async () => {
    const { app } = desktop
    await setPower(true)
    await expect.poll(phase, patient).toBe('paused')
    await expect.poll(async () => (await trayOf(app)).icon, patient).toBe('paused')
    await setPower(false)
    await expect.poll(phase, patient).toBe('training')
  })

  it('is told when the agent is killed; it starts again, and asks the job to have it back', async () => {
    await desktop.app.evaluate(({ Notification }) => {
      const told: string[] = []
      Object.assign(globalThis, { told })
      Notification.prototype.show = function (this: Electron.Notification) {
        told.push(`${this.title}: ${this.body}`)
      }
    })
    const before = agentPid(desktop.home)
    process.kill(before, 'SIGKILL')
    await expect.poll(async () => (await desktopState())?.agent, { ...patient, interval: 50 }).toBe('stopped')
    await expect.poll(async () => (await trayOf(desktop.app)).icon).toBe('trouble')
    await desktop.page.getByText('Agent stopped').first().waitFor()
    await expect.poll(async () => (await desktopState())?.agent, patient).toBe('running')
    expect(agentPid(desktop.home)).not.toBe(before)
    const told = () => desktop.app.evaluate(() => (globalThis as unknown as { told: string[] }).told)
    await expect
      .poll(told, patient)
      .toEqual([expect.stringMatching(/^Your job goes on without this PC: the training has/)])
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
