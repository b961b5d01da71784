/** A new plan whose numbers take long on their way: whoever has what it needs trains on at once, the others join. */
import { describe, expect, it } from 'vitest'
import type { StageEngine } from '../../main/core/ports.ts'
import { peersOf } from '../../main/core/job/plan-in-force.ts'
import type { JobView } from '../../shared/messages/control.ts'
import { clusterName } from '../../shared/plan/words.ts'
import { second } from '../../shared/units.ts'
import { type Scenario, smallJob, startScenario } from './pool.ts'

/** Two PCs hold the model, each alone; the host's own holds nothing. */
const settings = { engineMs: [60, 90], flopsPerSecond: 1e6 } as const
/** The newcomer's engine needs so long to load: until then its cluster is late. */
const lateMs = 40 * second
/** Enough for a stage, not for its numbers once more. */
const room = 95_000

const viewOf = ({ host }: Scenario) => host.participation.view()
const said = (scenario: Scenario) => viewOf(scenario).log.map(({ text }) => text)
const memberOf = (scenario: Scenario, name: string) =>
  viewOf(scenario).members.find(({ displayName }) => displayName === name)!
const withNewcomer = ({ plan }: Pick<JobView, 'plan'>) =>
  plan?.layout.clusters.findIndex((_, cluster) => peersOf(plan, cluster).includes('late')) ?? -1

function slowToLoad({ clock }: Scenario, engine: StageEngine, withinMs: number): void {
  const load = engine.load.bind(engine)
  engine.load = async (stage) => {
    await clock.sleep(withinMs)
    return load(stage)
  }
}

/** A third PC joins two in the middle of a run: its cluster still takes its numbers, the other one trains. */
async function joined(updates: number, { memoryBytes = 200_000, withinMs = lateMs } = {}) {
  const memories = [500, memoryBytes, memoryBytes]
  const scenario = await startScenario({ ...settings, memories, spec: smallJob({ updates }) })
  await scenario.until((view) => view.phase === 'training' && view.updates >= 10)
  const newcomer = await scenario.join('late', memoryBytes)
  slowToLoad(scenario, scenario.engineOf('late'), withinMs)
  await scenario.until((view) => view.phase === 'training' && withNewcomer(view) >= 0)
  const plan = viewOf(scenario).plan!
  const cluster = withNewcomer({ plan })
  const partners = peersOf(plan, cluster).filter((name) => name !== 'late')
  const [other] = scenario.members.filter(({ name }) => !partners.includes(name))
  return { scenario, newcomer, partners, other: other!, cluster }
}

/** The run ends at its target, nothing is lost, and no row came twice in an epoch. */
async function expectAllTrained(scenario: Scenario, updates: number): Promise<void> {
  const result = await scenario.end(scenario.host)
  expect(result).toMatchObject({ outcome: 'finished', updates, lostSamples: 0, doubledSamples: 0 })
  const given = [...scenario.taught.values()]
  for (const rows of given) expect(new Set(rows).size).toBe(rows.length)
  expect(given.reduce((sum, rows) => sum + rows.length, 0)).toBe(result.samples)
}

describe('a plan with a newcomer whose numbers are still on their way', () => {
  it('has the others train on meanwhile, and its cluster join them where they are', async () => {
    const { scenario, newcomer, other, cluster } = await joined(300)
    expect(memberOf(scenario, 'late').state).toBe('preparing')
    expect(viewOf(scenario).plan!.active).not.toContain(cluster)
    const [before, own] = [viewOf(scenario), other.participation.own()]
    await scenario.until(() => newcomer.participation.own().state === 'training')
    const { updates, plan } = viewOf(scenario)
    expect(updates).toBeGreaterThan(before.updates)
    expect(other.participation.own().samples).toBeGreaterThan(own.samples)
    expect(plan!.active).toEqual([0, 1])
    await expectAllTrained(scenario, 300)
    expect(memberOf(scenario, 'late').updates).toBe(300)
  })

  it('never shows fewer updates than before', async () => {
    const { scenario, newcomer } = await joined(300)
    let most = 0
    await scenario.until(({ updates }) => {
      expect(updates).toBeGreaterThanOrEqual(most)
      most = updates
      return newcomer.participation.own().samples > 100
    })
  })

  it('takes checkpoints of the training meanwhile, not of what is given out', async () => {
    const { scenario, newcomer } = await joined(10_000)
    const { updates } = viewOf(scenario)
    const many = scenario.savedRuns.length
    await scenario.until(() => newcomer.participation.own().state === 'training')
    const newer = scenario.savedRuns.slice(many).flatMap(({ checkpoint }) => checkpoint ?? [])
    expect(newer.length).toBeGreaterThan(0)
    expect(newer.at(-1)!.updates).toBeGreaterThan(updates)
    const before = scenario.savedRuns.slice(0, many).findLast(({ checkpoint }) => checkpoint !== undefined)
    expect(newer.at(-1)!.state.values).not.toEqual(before?.checkpoint?.state.values)
  })

  it('goes on without it when it is gone before it began, and takes it in when it comes again', async () => {
    const { scenario, cluster } = await joined(400)
    await scenario.lose('late')
    const { updates } = viewOf(scenario)
    await scenario.clock.advance(3 * second)
    expect(viewOf(scenario)).toMatchObject({ phase: 'training' })
    expect(viewOf(scenario).updates).toBeGreaterThan(updates)
    expect(said(scenario)).toContain(`${clusterName(cluster)} does not begin: its cluster lost late`)
    const again = await scenario.comeBack('late', 200_000)
    await scenario.until(() => again.participation.own().state === 'training')
    await expectAllTrained(scenario, 400)
  })

  it('is planned around when its owner pauses it meanwhile, and joins when that is over', async () => {
    const { scenario, newcomer } = await joined(600)
    newcomer.participation.pause()
    expect(newcomer.participation.own()).toMatchObject({ state: 'paused', pausesByUs: true })
    await scenario.clock.advance(30 * second)
    expect(newcomer.participation.own()).toMatchObject({ state: 'paused', samples: 0 })
    expect(viewOf(scenario).phase).toBe('training')
    newcomer.participation.resume()
    await scenario.until(() => newcomer.participation.own().state === 'training')
    await expectAllTrained(scenario, 600)
  })

  it('lets it leave at once, for nobody needs what it took', async () => {
    const { scenario, newcomer } = await joined(300)
    newcomer.participation.leave()
    await scenario.end(newcomer)
    await expectAllTrained(scenario, 300)
  })

  it('takes over what a PC knows that leaves while others still take theirs', async () => {
    const { scenario, other } = await joined(300)
    other.participation.leave()
    await scenario.end(other)
    await expectAllTrained(scenario, 300)
  })

  it('ends at the target though it never joined', async () => {
    const { scenario } = await joined(50)
    await expectAllTrained(scenario, 50)
  })

  it('is taken up by a host that comes back after it got ready', async () => {
    const { scenario, newcomer, cluster } = await joined(2000, { withinMs: 10 * second })
    await scenario.lose('host')
    await scenario.clock.advance(12 * second)
    expect(newcomer.participation.own()).toMatchObject({ state: 'ready', samples: 0 })
    scenario.hostAgain()
    await scenario.until(() => newcomer.participation.own().state === 'training')
    expect(viewOf(scenario).plan!.active).toContain(cluster)
  })

  it('waits for all where a PC has no room for what it would give out beside its stage', async () => {
    const { scenario } = await joined(10_000, { memoryBytes: room })
    expect(viewOf(scenario).plan!.active).toEqual([0, 1])
  })

  it('is given its numbers by who trains on meanwhile', async () => {
    const given: { readonly atMs: number; readonly to: string }[] = []
    const scenario = await startScenario({
      ...{ ...settings, memories: [500, 200_000, 200_000], spec: smallJob({ updates: 10_000 }) },
      uploadBytesPerSecond: 1_000,
      tap(_from, to, { header }, atMs) {
        if (header.type === 'state-piece') given.push({ atMs, to })
      },
    })
    await scenario.until((view) => view.phase === 'training' && view.updates >= 10)
    const newcomer = await scenario.join('late', 200_000)
    await scenario.until((view) => view.phase === 'training' && withNewcomer(view) >= 0)
    const beganMs = scenario.clock.now()
    expect(newcomer.participation.own().state).toBe('preparing')
    await scenario.until(() => newcomer.participation.own().state === 'training')
    expect(given.filter(({ atMs, to }) => atMs > beganMs && to === 'late').length).toBeGreaterThan(0)
  })
})
