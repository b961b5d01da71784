import { expect, it } from 'vitest'
import { addContribution, noContribution, onDay } from '../../../main/core/job/contribution.ts'

const gave = { samples: 64, trainedSeconds: 1, sentBytes: 10, receivedBytes: 20 }

it('counts for today and in total', () => {
  const once = addContribution(noContribution('2026-11-29'), '2026-11-29', gave)
  const twice = addContribution(once, '2026-11-29', gave)
  expect(twice.today).toEqual({ samples: 128, trainedSeconds: 2, sentBytes: 20, receivedBytes: 40 })
  expect(twice.total).toEqual(twice.today)
})

it('begins today anew after midnight and keeps the total', () => {
  const monday = addContribution(noContribution('2026-11-30'), '2026-11-30', gave)
  const tuesday = addContribution(monday, '2026-12-01', gave)
  expect(tuesday.today).toEqual(gave)
  expect(tuesday.total.samples).toBe(128)
  expect(onDay(tuesday, '2026-12-02').today.samples).toBe(0)
  expect(onDay(tuesday, '2026-12-01')).toBe(tuesday)
})
