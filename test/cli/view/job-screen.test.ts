import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { JobView } from '../../../shared/messages/control.ts'
import { displayWidth } from '../../../main/cli/view/columns.ts'
import { jobScreen } from '../../../main/cli/view/job-screen.ts'
import { colourPaint, plainPaint } from '../../../main/cli/view/paint.ts'
import { exampleJob, exampleMember } from '../example-job.ts'

const plain = { columns: 80, rows: 30, paint: plainPaint, hint: 'Ctrl-C finishes early and keeps the model' }
/** Braille is for eyes; its exact dots are the chart's own tests. */
const withoutChart = (text: string): string => text.replaceAll(/^.* ┤ .*\n/gm, '')

const hostile = {
  displayName: `\u001b]0;owned\u0007\u202egnol yrev a ${'名'.repeat(40)}\n\u001b[2J`,
  reason: `\r\u001b[1A${'x'.repeat(300)}`,
}

describe('the live view of a job', () => {
  it('shows progress, loss, clusters as rows of stages, and who is idle, in 80 columns', () => {
    expect(withoutChart(jobScreen(exampleJob, plain))).toBe(
      [
        'digits                                                           host · training',
        '━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌',
        '142 of 200 updates, 71 %                                            12–15 s left',
        'averaging round 14 waits for cluster 2',
        '',
        'loss 0.268  ·  validation 0.310, 91.2 %  ·  1,152 samples/s  ·  9,088 samples',
        '',
        'cluster 1  612 samples/s',
        '  laptop             █████░░░░░░░ layers 0–3     training   83 % busy  12.3 MiB',
        '  old-pc             ░░░░░███████ layers 4–8     training   64 % busy  12.3 MiB',
        'cluster 2  does not train at present',
        '  desk               ███░░░░░░░░░ layers 0–1     training   83 % busy  12.3 MiB',
        '  tower              ░░░█████████ layers 2–8     lost      sent nothing for 30 s',
        'in no cluster',
        '  phone              idle      its speed was measured as 0',
        '',
        'Ctrl-C finishes early and keeps the model',
      ].join('\n'),
    )
  })

  it('lists the peers while it gathers', () => {
    const gathering: JobView = {
      ...exampleJob,
      phase: 'gathering',
      text: 'waits for 3 more peers',
      plan: null,
      members: [exampleMember('laptop', { state: 'joined' })],
      trainingCurve: [],
      validationCurve: [],
      samples: 0,
      samplesPerSecond: 0,
    }
    expect(jobScreen(gathering, { ...plain, hint: '' })).toBe(
      [
        'digits                                                          host · gathering',
        'waits for 3 more peers',
        '',
        'peers',
        '  laptop             joined',
      ].join('\n'),
    )
  })

  it('says the same with and without colour', () => {
    const coloured = jobScreen(exampleJob, { ...plain, paint: colourPaint })
    expect(coloured).not.toBe(jobScreen(exampleJob, plain))
    expect(stripVTControlCharacters(coloured)).toBe(jobScreen(exampleJob, plain))
  })

  it.each([40, 60, 80, 110])(
    'fits %i columns and its rows, however many peers and whatever names they chose',
    (columns) => {
      const members = Array.from({ length: 200 }, (_, index) => exampleMember(`p${index}`, { ...hostile }))
      const strange: JobView = {
        ...exampleJob,
        name: '長'.repeat(80),
        text: hostile.reason,
        members: [exampleMember('laptop', hostile), ...members],
      }
      for (const rows of [16, 24, 50]) {
        const lines = jobScreen(strange, { ...plain, columns, rows }).split('\n')
        expect(lines.length).toBeLessThan(rows)
        const widest = Math.max(...lines.map(displayWidth))
        expect(widest).toBeLessThanOrEqual(columns)
        expect(lines.join('')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
      }
    },
  )
})
