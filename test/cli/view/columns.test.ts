import { describe, expect, it } from 'vitest'
import { bothEnds, column, columnRight, cut, displayWidth, harmless } from '../../../main/cli/view/columns.ts'
import { colourPaint } from '../../../main/cli/view/paint.ts'

describe('text in columns', () => {
  it('counts letters of East Asia and emoji as two, and accents and colours as none', () => {
    expect(['abc', '名前', 'e\u0301', '👩‍💻', colourPaint('good', 'ok')].map(displayWidth)).toEqual([
      3, 4, 1, 2, 2,
    ])
  })

  it('cuts to the width and never through a wide letter or a colour', () => {
    expect(cut('abcdef', 4)).toBe('abc…')
    expect(cut('名前名前', 4)).toBe('名…')
    expect(cut(colourPaint('good', 'abcdef'), 4)).toBe(colourPaint('good', 'abc…'))
    expect(cut('abcd', 4)).toBe('abcd')
  })

  it('pads to exactly the width', () => {
    expect(column('名', 4)).toBe('名  ')
    expect(columnRight('ab', 4)).toBe('  ab')
    expect(bothEnds('left', 'right', 12)).toBe('left   right')
    expect(bothEnds('a long left', 'right', 12)).toBe('a lon… right')
  })

  it('lets no stranger steer the terminal', () => {
    expect(harmless('\u001b]0;title\u0007 a\u001b[2Jb\r\nc \u202eright')).toBe('ab c  right')
  })
})
