/** What a person could not read: texts that leave their box or the page, or that run into each other. */
import type { Page } from 'playwright-core'

/** Runs in the page. */
function wideBoxes(): string[] {
  const found: string[] = []
  for (const scroller of document.querySelectorAll('.page, .frame, .side'))
    if (scroller.scrollWidth > scroller.clientWidth) found.push(`${scroller.className} scrolls sideways`)
  // A footer spans the page, beyond its inner box; fields scroll what a person typed.
  const whole = '.visually-hidden, svg, .scroll-x, .inner, input, textarea, select'
  for (const box of document.querySelectorAll('.frame *')) {
    if (box.matches(whole) || box.closest('svg, .scroll-x, select') !== null) continue
    if (box.querySelector('.scroll-x') !== null || getComputedStyle(box).display === 'inline') continue
    if (box.clientWidth > 0 && box.scrollWidth > box.clientWidth + 1)
      found.push(`wider than its box: ${box.tagName} ${box.textContent.trim().slice(0, 60)}`)
  }
  return found
}

/** Runs in the page. */
function outsideThePicture(): string[] {
  return Array.from(document.querySelectorAll('svg.pool')).flatMap((picture) => {
    const frame = picture.getBoundingClientRect()
    return Array.from(picture.querySelectorAll('text'))
      .filter((text) => {
        const box = text.getBoundingClientRect()
        return box.right > frame.right + 1 || box.bottom > frame.bottom + 2
      })
      .map((text) => `outside the picture: ${text.textContent}`)
  })
}

/** Runs in the page. */
function meetingTexts(): string[] {
  const range = document.createRange()
  const hidden =
    '.visually-hidden, select, details:not([open]) > :not(summary), details:not([open]) > :not(summary) *'
  // The footer of a decision lies over what scrolls below it.
  const elements = document.querySelectorAll('.side *, .inner :not(.foot, .foot *)')
  const texts = Array.from(elements)
    .filter((element) => !element.matches(hidden) && element.closest('.visually-hidden, select') === null)
    .flatMap((element) =>
      Array.from(element.childNodes)
        .filter((node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim() !== '')
        .flatMap((node) => {
          range.selectNodeContents(node)
          return Array.from(range.getClientRects(), (box) => ({
            element,
            words: node.textContent ?? '',
            box,
          }))
        }),
    )
  // Boxes of lines are higher than their letters.
  const slack = 6
  const meet = (one: DOMRect, other: DOMRect): boolean =>
    one.left < other.right - 1 &&
    other.left < one.right - 1 &&
    one.top < other.bottom - slack &&
    other.top < one.bottom - slack
  return texts.flatMap(({ element, words, box }, index) =>
    texts
      .slice(index + 1)
      .filter((other) => other.element !== element && meet(box, other.box))
      .map((other) => `texts meet: ${words.slice(0, 40)} / ${other.words.slice(0, 40)}`),
  )
}

export const cutTexts = async (page: Page): Promise<string[]> => [
  ...(await page.evaluate(wideBoxes)),
  ...(await page.evaluate(outsideThePicture)),
  ...(await page.evaluate(meetingTexts)),
]
