import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { demoBudgetsTask } from '../../main/agent/tasks/demo-budgets.ts'
import { second } from '../../shared/units.ts'
import { createFleet, digitsJob, gatherPool, type Peer } from './fleet.ts'

const fleet = createFleet()
afterAll(() => fleet.end())

/** Jiffies a second; Linux shows 100 to programs on every machine. */
const jiffies = 100
const watchedMs = 6 * second
/** What a start, a join or a loss leaves to do (saving, measuring, compiling) is done within so many looks, beside other tests, too. */
const mostLooks = 8
const promised = 0.05

/** Seconds of processor time of the process with all its threads, as the kernel counts. */
function processorSeconds(pid: number): number {
  // Fields 14 and 15; the second one, the name, may hold blanks but ends with the last bracket.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / jiffies
}

/** Share of one core that each of these uses. */
async function sharesOf(peers: readonly Peer[]): Promise<number[]> {
  const since = performance.now()
  const before = peers.map(({ pid }) => processorSeconds(pid))
  await sleep(watchedMs)
  const seconds = (performance.now() - since) / second
  return peers.map(({ pid }, index) => (processorSeconds(pid) - before[index]!) / seconds)
}

/** They come to rest: one that goes on looking around never does. */
async function expectIdle(peers: readonly Peer[]): Promise<void> {
  let shares: number[] = []
  for (let look = 0; look < mostLooks; look++) {
    shares = await sharesOf(peers)
    const told = shares.map((share, index) => `${peers[index]!.name} ${(share * 100).toFixed(1)} %`)
    console.info(`idle agents use of a core: ${told.join(', ')}`)
    if (Math.max(...shares) < promised) break
  }
  for (const share of shares) expect(share).toBeLessThan(promised)
}

// Other systems have no /proc to read the processor time of another process from.
describe.skipIf(process.platform !== 'linux')('an agent that does not train', () => {
  it('uses less than 5 % of a core, alone, hosting, and joined', async () => {
    const peers = await Promise.all(['alone', 'host', 'member'].map((name) => fleet.start(name)))
    const [, host, member] = peers as [Peer, Peer, Peer]
    await gatherPool(host, [member], digitsJob())
    await host.until('the member', ({ members }) => members.length === 2)
    await expectIdle(peers)
  })

  it('uses as little while it waits for one of four that was pulled out, and that all are needed for', async () => {
    const names = ['one', 'two', 'three', 'four']
    const budgets = await demoBudgetsTask({ model: 'digits-cnn', shape: [4] })
    const start = (name: string, index: number) => fleet.start(name, { memoryBytes: budgets[index]! })
    const [host, pulled, ...others] = (await Promise.all(names.map(start))) as [Peer, Peer, ...Peer[]]
    const gathering = { peers: 4, clusters: 1, deadlineSeconds: 600, inviteHours: 24 }
    await gatherPool(host, [pulled, ...others], digitsJob({ model: 'digits-cnn', gathering }))
    await host.until('training', ({ phase, updates }) => phase === 'training' && updates > 0)
    await pulled.kill()
    await host.until(
      'waiting',
      ({ phase, text }) => phase === 'paused' && text.startsWith('waiting for members'),
    )
    await expectIdle([host, ...others])
  })
})
