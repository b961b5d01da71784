import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { demoBudgetsTask } from '../../main/agent/tasks/demo-budgets.ts'
import { evaluateTask } from '../../main/agent/tasks/evaluate.ts'
import type { JobView } from '../../shared/messages/control.ts'
import { createFleet, digits, digitsJob, gatherPool, type Peer } from './fleet.ts'

const names = ['ann', 'ben', 'cem', 'dan', 'eve']
const twoAndThree = digitsJob({
  model: 'digits-cnn',
  gathering: { peers: 5, clusters: 2, deadlineSeconds: 600, inviteHours: 24 },
})

const fleet = createFleet()
const peers = new Map<string, Peer>()
const peer = (name: string): Peer => peers.get(name)!
const memories = new Map<string, number>()
const start = async (name: string) => {
  peers.set(name, await fleet.start(name, { memoryBytes: memories.get(name)! }))
}

beforeAll(async () => {
  const budgets = await demoBudgetsTask({ model: 'digits-cnn', shape: [2, 3] })
  for (const [index, name] of names.entries()) memories.set(name, budgets[index]!)
  await Promise.all(names.map(start))
})
afterAll(() => fleet.end())

const trains = (job: string) => (view: JobView) =>
  view.job === job && view.phase === 'training' && view.updates > 0

/** Who shares a cluster with this peer. */
/** Empty where it holds no stage: a host may stand by. */
function clusterOf({ plan, members }: JobView, name: string): string[] {
  const nameOf = new Map(members.map(({ peer, displayName }) => [peer, displayName]))
  const clusters = plan!.layout.clusters.map(({ stages }) => stages.map(({ peer }) => nameOf.get(peer)!))
  return clusters.find((cluster) => cluster.includes(name)) ?? []
}

/** None where it never began a stage. */
function savesOf({ home }: Peer, job: string): string[] {
  const folder = join(home, 'stages', job)
  return existsSync(folder) ? readdirSync(folder) : []
}

describe('a pool of two clusters', () => {
  let run: { readonly job: string; readonly invite: string }
  /** Who has a stage after eve left. */
  let holding: string[] = []

  it('is one of two stages and one of three, as its members’ memory allows', async () => {
    const host = peer('ann')
    run = await gatherPool(host, ['ben', 'cem', 'dan', 'eve'].map(peer), twoAndThree)
    const before = await host.until('training', trains(run.job))
    expect(before.plan!.layout.clusters.map(({ stages }) => stages.length).sort()).toEqual([2, 3])
    const after = await host.until('more updates', ({ updates }) => updates > before.updates)
    expect(after.members.map(({ displayName, state }) => [displayName, state]).sort()).toEqual(
      names.map((name) => [name, 'training']),
    )
  })

  it('finishes without the member that was killed, and the model is as good as it says', async () => {
    const host = peer('ann')
    const view = await host.until('training', trains(run.job))
    const [victim, ...others] = clusterOf(view, 'ann').filter((name) => name !== 'ann')
    await peer(victim!).kill()
    const seen = await host.until('the loss', ({ members }) =>
      members.some(({ displayName, state }) => displayName === victim && state === 'lost'),
    )
    const idle = seen.members.filter(({ state }) => state === 'idle')
    expect(idle.map(({ displayName, reason }) => [displayName, reason]).sort()).toEqual(
      ['ann', ...others].map((name) => [name, `its cluster lost ${victim!}`]).sort(),
    )
    await host.until('updates of the others', ({ updates }) => updates > seen.updates)
    await host.client.command('finish', {})
    const result = await host.resultOf(run.job)
    expect(result).toMatchObject({
      outcome: 'stopped',
      reason: `ended early by the host, without ${victim!}, who left on the way`,
    })
    const { scores } = await evaluateTask({ modelDirectory: result.model!, data: digits })
    expect(scores.accuracy).toBeCloseTo(result.validation!.accuracy, 4)
    expect(scores.loss).toBeCloseTo(result.validation!.loss, 4)
    for (const name of names.filter((name) => name !== victim && name !== 'ann')) {
      expect(await peer(name).resultOf(run.job)).toMatchObject({ outcome: 'stopped', reason: result.reason })
    }
    for (const name of ['ann', ...others]) expect(savesOf(peer(name), run.job)).toHaveLength(1)
    await start(victim!)
  })

  it('hears why a member went whose agent was quit', async () => {
    const host = peer('ben')
    run = await gatherPool(host, ['ann', 'cem', 'dan', 'eve'].map(peer), twoAndThree)
    await host.until('training', trains(run.job))
    await peer('eve').shutDown()
    const { members } = await host.until('the loss', ({ members }) =>
      members.some(({ state }) => state === 'lost'),
    )
    expect(members.find(({ displayName }) => displayName === 'eve')).toMatchObject({
      state: 'lost',
      reason: 'left',
    })
    // The others go on by a plan without it.
    const eve = members.find(({ displayName }) => displayName === 'eve')!.peer
    const holders = ({ plan }: JobView) =>
      plan?.layout.clusters.flatMap(({ stages }) => stages.map((stage) => stage.peer)) ?? []
    const trainsWithout = (view: JobView) => view.phase === 'training' && !holders(view).includes(eve)
    const held = holders(await host.until('the training without eve', trainsWithout))
    holding = members.filter((member) => held.includes(member.peer)).map(({ displayName }) => displayName)
    // A host that is killed below before they begin would leave them nothing to save.
    await Promise.all(holding.map((name) => peer(name).until('its own start without eve', trainsWithout)))
  })

  it('trains on where a cluster is whole when its host is killed, else ends in a sentence, and can train another job', async () => {
    const members = ['ann', 'cem', 'dan'].map(peer)
    const broken = clusterOf(await peer('ben').until('training', trains(run.job)), 'ben')
    await peer('ben').kill()
    const whole = members.filter(({ name }) => holding.includes(name) && !broken.includes(name))
    await Promise.all(
      whole.map(async (member) => {
        const gone = await member.until('the loss of its host', ({ log }) =>
          log.some(({ text }) => text.startsWith('the host is gone (')),
        )
        const own = ({ members: seen }: JobView) =>
          seen.find(({ displayName }) => displayName === member.name)?.samples ?? 0
        await member.until('more samples', (view) => own(view) > own(gone))
      }),
    )
    for (const member of whole) {
      await member.client.command('leave', {})
      expect(await member.resultOf(run.job)).toMatchObject({ outcome: 'stopped' })
    }
    for (const member of members.filter((one) => !whole.includes(one))) {
      const holds = holding.includes(member.name)
      const result = await member.resultOf(run.job)
      expect(result.outcome).toBe('failed')
      expect(result.reason).toMatch(/^the host is gone \(.+\)/)
      expect(result.reason.endsWith('; what this PC trained is saved')).toBe(holds)
      expect(savesOf(member, run.job).length > 0).toBe(holds)
    }
    const [next, ...others] = members.slice(0, 2) as [Peer, ...Peer[]]
    const again = await gatherPool(
      next,
      others,
      digitsJob({ target: { updates: 6 }, gathering: { ...twoAndThree.gathering, peers: 2, clusters: 1 } }),
    )
    expect(await next.resultOf(again.job)).toMatchObject({
      outcome: 'finished',
      reason: 'the target was reached',
      updates: 6,
    })
    const back = await fleet.start('ben')
    expect((await back.client.command('status', {})).job).toBeNull()
  })
})
