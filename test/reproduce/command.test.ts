import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { holds, inText } from './table.ts'

/** Exit code and what it wrote. */
function reproduce(...words: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [join(import.meta.dirname, 'index.ts'), ...words], (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr })
    })
  })
}

describe('npm run reproduce', () => {
  it.each([[[]], [['nothing']], [['dtfm', 'stragglers']], [['toString']], [['--nonsense']]])(
    'answers %j with exit code 2',
    async (words) => {
      expect(await reproduce(...words)).toMatchObject({ code: 2, stdout: '' })
    },
  )

  it('lists what it can without a name', async () => {
    const { stderr } = await reproduce()
    for (const name of ['dtfm', 'ravnest-clusters', 'ravnest-memory', 'runtime-model', 'stragglers'])
      expect(stderr).toContain(name)
  })

  it('gives one line of JSON with every row and whether it holds', async () => {
    const { code, stdout } = await reproduce('runtime-model', '--json')
    const result = JSON.parse(stdout) as { event: string; name: string; rows: { holds: boolean }[] }
    expect(code).toBe(0)
    expect(result).toMatchObject({ event: 'result', name: 'runtime-model' })
    expect(result.rows.length).toBeGreaterThan(50)
    expect(result.rows.every((row) => row.holds)).toBe(true)
  })
})

describe('a table', () => {
  const row = { what: 'seconds', published: 10, ours: 10.2 }

  it('holds within its share, at most its bound, and promises nothing else', () => {
    expect(holds({ ...row, within: 0.03 })).toBe(true)
    expect(holds({ ...row, within: 0.01 })).toBe(false)
    expect(holds({ ...row, atMost: 10 })).toBe(false)
    expect(holds(row)).toBeUndefined()
  })

  it('puts the published figure beside ours', () => {
    const text = inText({
      title: 'Title',
      source: 'Source',
      rows: [{ ...row, within: 0.01 }],
      notes: ['Note'],
    })
    expect(text.split('\n')).toEqual([
      'Title',
      'Source',
      '',
      '         published  ours  difference',
      'seconds         10  10.2     +2.00 %  DOES NOT HOLD',
      '',
      'Note',
    ])
  })
})
