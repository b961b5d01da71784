/** What the window must not do: work while nobody sees it, talk all the time, move, or lean on colours alone. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { drawn, openWindows, push } from '../chromium-window.ts'
import type { View, WindowInChromium } from '../chromium-window.ts'
import * as answers from '../fixtures/answers.ts'
import { sceneOf } from '../fixtures/scenes.ts'
import * as snapshots from '../fixtures/snapshots.ts'

const view: View = { width: 900, height: 640, scheme: 'light' }
const oneSecond = 1000

/** Runs in the page: as if another window covered this one. */
function hide(hidden: boolean): void {
  Object.defineProperty(document, 'visibilityState', {
    value: hidden ? 'hidden' : 'visible',
    configurable: true,
  })
  document.dispatchEvent(new Event('visibilitychange'))
}

/** Runs in the page: count strokes on any canvas and changes of the document from now on. */
function watchDrawing(): void {
  const seen = { strokes: 0, changes: 0 }
  const canvas: { stroke: () => void } = CanvasRenderingContext2D.prototype
  canvas.stroke = new Proxy(Reflect.get(canvas, 'stroke'), {
    apply(drawn, context, path) {
      seen.strokes++
      Reflect.apply(drawn, context, path)
    },
  })
  new MutationObserver((records) => {
    seen.changes += records.length
  }).observe(document, { subtree: true, childList: true, attributes: true, characterData: true })
  fake.asked.length = 0
  Object.assign(globalThis, { seen })
}

interface Drawing {
  readonly strokes: number
  readonly changes: number
}
const drawingOf = (page: Page) =>
  page.evaluate(() => ({
    ...(globalThis as unknown as { seen: Drawing }).seen,
    asked: [...fake.asked],
    intervals: [...fake.intervals.values()],
  }))

/** An evening's worth of states: everything on the page is different each time. */
async function pushMany(page: Page): Promise<void> {
  const { job } = snapshots.training
  for (let updates = 7141; updates < 7161; updates++)
    await push(page, 'snapshot', {
      ...snapshots.training,
      job: { ...job, updates, trainingCurve: [...(job?.trainingCurve ?? []), { updates, loss: 1.5 }] },
    })
}

/** The words of every live region each time one of them changes. Runs in the page. */
function listen(): void {
  const heard: string[] = []
  const words = () =>
    Array.from(document.querySelectorAll('[role=status],[role=alert]'), (one) => one.textContent).join('|')
  let before = words()
  new MutationObserver(() => {
    const after = words()
    if (after !== before) heard.push(after)
    before = after
  }).observe(document, { subtree: true, childList: true, characterData: true })
  Object.assign(globalThis, { heard })
}

let windows: WindowInChromium
beforeAll(async () => {
  windows = await openWindows()
})
afterAll(() => windows.close())

describe('a window that nobody sees', () => {
  it('draws nothing, changes nothing and asks for no timer or frame; seen again it shows the newest', async () => {
    const { page } = await windows.open(sceneOf('job'), view)
    await page.evaluate(watchDrawing)
    await page.evaluate(hide, true)
    await pushMany(page)
    await push(page, 'snapshot', snapshots.lost)
    expect(await drawingOf(page)).toEqual({ strokes: 0, changes: 0, asked: [], intervals: [] })
    await page.evaluate(hide, false)
    await page.getByText('office-thinkpad is lost').waitFor()
    await page.close()
  })

  it('would be caught drawing: the same states draw and change it while it is seen', async () => {
    const { page } = await windows.open(sceneOf('job'), view)
    await page.evaluate(watchDrawing)
    await pushMany(page)
    await page.getByText('7,160 updates').waitFor()
    await drawn(page)
    const { strokes, changes, asked, intervals } = await drawingOf(page)
    expect([strokes > 0, changes > 0, asked.length > 0]).toEqual([true, true, true])
    expect(intervals).toEqual([oneSecond])
    await page.close()
  })
})

describe('a screen reader', () => {
  it('hears the state once, and no figure that changes all the time', async () => {
    const { page } = await windows.open(sceneOf('job'), view)
    await page.evaluate(listen)
    const heard = () => page.evaluate(() => (globalThis as unknown as { heard: string[] }).heard)
    await pushMany(page)
    await page.getByText('7,160 updates').waitFor()
    expect(await heard()).toEqual([])
    await push(page, 'snapshot', snapshots.pausedByUser)
    await page.getByText('This PC is paused').waitFor()
    expect(await heard()).toEqual(['Paused'])
    await push(page, 'desktop', answers.desktopStopped)
    await page.getByText('The next try is in 8 s.').waitFor()
    await page.clock.setFixedTime(snapshots.fixtureNow + 3000)
    await page.getByText('The next try is in 5 s.').waitFor()
    expect((await heard()).slice(1)).toEqual(['Agent stopped|The agent stopped and starts again by itself'])
    await page.close()
  })
})

describe('a reader’s own settings', () => {
  it('of less motion leave none, and otherwise only colours fade', async () => {
    const { page } = await windows.open(sceneOf('limits'), view)
    const moving = () =>
      page.evaluate(() => {
        const styles = Array.from(document.querySelectorAll('*'), (one) => getComputedStyle(one))
        const fading = styles.filter(({ transitionDuration }) => parseFloat(transitionDuration) > 0)
        return {
          fading: [...new Set(fading.map(({ transitionProperty }) => transitionProperty))],
          animated: styles.filter(({ animationName }) => animationName !== 'none').length,
        }
      })
    expect(await moving()).toEqual({ fading: [], animated: 0 })
    await page.emulateMedia({ reducedMotion: 'no-preference' })
    expect(await moving()).toEqual({ fading: ['background'], animated: 0 })
    await page.close()
  })

  it('of colours reach pictures too, and the page’s mark stays', async () => {
    const { page } = await windows.open(sceneOf('job'), view)
    await page.emulateMedia({ forcedColors: 'active' })
    const [system, stage, mine, mark] = await page.evaluate(() => {
      const of = (selector: string) => getComputedStyle(document.querySelector(selector) ?? document.body)
      const probe = document.createElement('p')
      document.body.append(probe)
      const resolved = (name: string) => {
        probe.style.color = name
        return getComputedStyle(probe).color
      }
      return [
        [resolved('Canvas'), resolved('CanvasText'), resolved('Highlight')],
        [of('.pool .stage:not(.me)').fill, of('.pool .stage:not(.me)').stroke],
        of('.pool .stage.me').stroke,
        of('.nav [aria-current]').borderTopWidth,
      ] as const
    })
    expect([stage, mine, mark]).toEqual([[system[0], system[1]], system[2], '2px'])
    await page.close()
  })

  it('of colours leave the text of the first button on the ground of that button', async () => {
    const { page } = await windows.open(sceneOf('join'), view)
    await page.emulateMedia({ forcedColors: 'active' })
    const adjust = await page
      .getByRole('button', { name: 'Look at it' })
      .evaluate((button) => getComputedStyle(button).forcedColorAdjust)
    expect(adjust).toBe('none')
    await page.close()
  })
})
