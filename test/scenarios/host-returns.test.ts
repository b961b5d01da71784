/** The host's PC dies at any moment of a run: members end in order, and its return brings the run to its end. */
import { describe, expect, it } from 'vitest'
import type { WireHeader } from '../../shared/messages/wire.ts'
import { createRng } from '../../shared/random.ts'
import { minute, second } from '../../shared/units.ts'
import { type Scenario, type ScenarioSettings, smallJob, startScenario } from './pool.ts'

const updates = 80
const moments = ['activation', 'gradient', 'gather', 'round-whole', 'job-news', 'parameters'] as const
const momentOf = (header: WireHeader): string => (header.type === 'chunk' ? header.phase : header.type)

/** The host is gone with the first such message after that update. Undefined: it had reached the end before. */
async function dieAt(
  moment: string,
  afterUpdate: number,
  settings: ScenarioSettings,
): Promise<Scenario | undefined> {
  const begun: { scenario?: Scenario; dead?: true } = {}
  const scenario = await startScenario({
    ...settings,
    tap(_from, _to, { header }) {
      if (begun.dead === true || begun.scenario === undefined || momentOf(header) !== moment) return
      if (begun.scenario.host.participation.view().updates < afterUpdate) return
      begun.dead = true
      void begun.scenario.network.sever('host')
    },
  })
  begun.scenario = scenario
  const runs = () => scenario.host.participation.view().result === null
  for (let waited = 0; begun.dead === undefined && runs() && waited < 300; waited++)
    await scenario.clock.advance(second)
  return begun.dead === true && runs() ? scenario : undefined
}

async function play(seed: number, moment: string): Promise<void> {
  const rng = createRng(seed)
  const memories = [52_500, 52_500, 52_500, 52_500, 105_000].slice(0, 2 + Math.floor(rng.next() * 4))
  const settings = {
    memories,
    seed,
    flopsPerSecond: 1e6,
    engineMs: [10, 30] as const,
    spec: smallJob({ updates }),
  }
  const before = await dieAt(moment, Math.floor(rng.next() * 60), settings)
  if (before === undefined) return
  const diedAtMs = before.clock.now()
  for (const member of before.members)
    expect(await before.end(member)).toMatchObject({ outcome: 'failed', code: 'host-lost' })
  expect(before.clock.now() - diedAtMs).toBeLessThan(minute)
  const run = before.savedRuns.at(-1)
  const after = await startScenario({ ...settings, ...(run === undefined ? {} : { resume: run }) })
  const kept = run?.checkpoint?.updates ?? 0
  await after.until(({ phase }) => phase === 'training')
  expect(after.host.participation.view().updates).toBe(kept)
  const result = await after.end(after.host)
  expect(result).toMatchObject({ outcome: 'finished', updates })
  expect(after.savedModels).toHaveLength(1)
  expect(after.savedModels[0]!.state.every(Number.isFinite)).toBe(true)
}

describe('a host that dies and returns', () => {
  it.each(moments.map((moment, seed) => ({ moment, seed })))(
    'in the middle of $moment goes on with its run',
    ({ moment, seed }) => play(seed, moment),
  )
})
