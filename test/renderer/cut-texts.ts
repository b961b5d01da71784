/** Runs in the page: texts that leave their box, and texts of a picture that run into each other. */
export function cutTexts(): string[] {
  const found: string[] = []
  const page = document.querySelector('.page')
  if (page !== null && page.scrollWidth > page.clientWidth) found.push('the page scrolls sideways')
  const boxes = '.card,.facts>div,.banner,.btn,.side,.side *,.limit>*,td,th,dd,dt,p,h1,h2,li'
  for (const box of document.querySelectorAll(boxes)) {
    if (box.closest('.visually-hidden, svg, .scroll-x') !== null || box.querySelector('.scroll-x') !== null)
      continue
    if (
      box.clientWidth > 0 &&
      box.scrollWidth > box.clientWidth + 1 &&
      getComputedStyle(box).display !== 'inline'
    )
      found.push(`wider than its box: ${box.tagName} ${box.textContent.trim().slice(0, 60)}`)
  }
  for (const picture of document.querySelectorAll('svg.pool')) {
    const texts = Array.from(picture.querySelectorAll('text'), (text) => ({
      words: text.textContent,
      box: text.getBoundingClientRect(),
    }))
    const frame = picture.getBoundingClientRect()
    texts.forEach(({ words, box }, index) => {
      if (box.right > frame.right + 1 || box.bottom > frame.bottom + 2)
        found.push(`outside the picture: ${words}`)
      for (const other of texts.slice(index + 1)) {
        const across = box.left < other.box.right - 1 && other.box.left < box.right - 1
        const along = box.top < other.box.bottom - 5 && other.box.top < box.bottom - 5
        if (across && along) found.push(`texts meet: ${words} / ${other.words}`)
      }
    })
  }
  return found
}
