/** The style sheets: nothing in them that no part of the window wears. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const window = join(import.meta.dirname, '../../../renderer/window')

const read = (endings: RegExp): string =>
  readdirSync(window, { recursive: true, encoding: 'utf8' })
    .filter((name) => endings.test(name))
    .map((name) => readFileSync(join(window, name), 'utf8'))
    .join('\n')

/** Classes of the selectors, without comments and values. */
function classesOf(styles: string): string[] {
  const selectors = styles.replaceAll(/\/\*[\s\S]*?\*\//g, '').match(/[^{};]+(?=\{)/g) ?? []
  return [...new Set(selectors.flatMap((selector) => selector.match(/\.[a-z][a-z0-9-]*/g) ?? []))].map(
    (name) => name.slice(1),
  )
}

/** Every word of a text in quotes: a class is written in one, whole or as `is-${tone}`. */
function wordsOf(code: string): Set<string> {
  const texts = code.match(/'[^'\n]*'|"[^"\n]*"|`[^`]*`/g) ?? []
  return new Set(texts.flatMap((text) => text.split(/[^a-zA-Z0-9-]+/)))
}

describe('the style sheets', () => {
  it('hold no class that nothing wears', () => {
    const worn = wordsOf(read(/\.tsx?$/))
    const tones = [...worn].filter((word) => /^[a-z]+$/.test(word)).map((word) => `is-${word}`)
    const dead = classesOf(read(/\.css$/)).filter((name) => !worn.has(name) && !tones.includes(name))
    expect(dead).toEqual([])
  })

  it('would be caught with one', () => {
    expect(classesOf('/* .no */ .a .b-c:has(.d) { margin: 0.5rem } @media (x) { .e { top: 1px } }')).toEqual([
      'a',
      'b-c',
      'd',
      'e',
    ])
  })
})
