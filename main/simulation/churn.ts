/**
 * PCs that go and come back, and what a host does about it: the cluster stops and the others go on; ten seconds later it
 * looks for a better plan; where one is worth a stop, everyone drains, weights travel, and the training goes on.
 * The rules are those of `core/job/host/{drop,replan}.ts`, the plans and rings core's own.
 */
import type { PeerId } from '../../shared/ids.ts'
import type { DoesNotFit, Layout, Plan } from '../../shared/plan/plan.ts'
import type { ModelProfile, Pool } from '../../shared/plan/pool.ts'
import type { Rng } from '../../shared/random.ts'
import { type Millis, second, type Seconds } from '../../shared/units.ts'
import { planPool } from '../core/planner/plan-pool.ts'
import type { SimulatedPool, Watcher } from './simulated-pool.ts'

export interface Churn {
  /** Mean time between the losses of one PC. */
  readonly meanSeconds: Seconds
  /** Until it is there again. */
  readonly backSeconds: Seconds
}

interface ChurnParts {
  readonly simulated: SimulatedPool
  readonly pool: Pool
  readonly profile: ModelProfile
  readonly seed: number
  readonly churn: Churn
  readonly rng: Rng
  readonly schedule: (layout: Layout) => Plan
  readonly watch?: Watcher
}

/** Links say that a peer is gone after this grace. */
const noticedAfterMs: Millis = 2 * second
/** An agent that broke down may be back by then. */
const comesBackWithinMs: Millis = 10 * second
/** Less than a tenth is not worth a stop. */
const worthwhile = 1.1

export class Membership {
  readonly #parts: ChurnParts
  readonly #gone = new Set<PeerId>()
  /** Planning is the slow part, and the same PCs are gone again. */
  readonly #layouts = new Map<string, Layout | DoesNotFit>()
  #lookAsked = false
  #replanning = false
  losses = 0
  plans = 1

  constructor(parts: ChurnParts) {
    this.#parts = parts
  }

  /** The first PC is the host's: without it there is no job, so it stays. */
  begin(): void {
    for (const { id } of this.#parts.pool.peers.slice(1)) this.#expectLoss(id)
  }

  #expectLoss(peer: PeerId): void {
    const { simulated, churn, rng } = this.#parts
    const { clock } = simulated
    const staysMs = -Math.log(1 - rng.next()) * churn.meanSeconds * second
    clock.at(clock.now() + staysMs, () => {
      this.#lose(peer)
      clock.at(clock.now() + noticedAfterMs, () => {
        this.#notice(peer)
      })
      clock.at(clock.now() + Math.max(noticedAfterMs, churn.backSeconds * second), () => {
        this.#comeBack(peer)
      })
    })
  }

  #lose(peer: PeerId): void {
    const { simulated, watch } = this.#parts
    this.losses += 1
    this.#gone.add(peer)
    simulated.lose(peer)
    watch?.event(`${peer} is gone`, simulated.clock.now())
  }

  #notice(peer: PeerId): void {
    const { simulated } = this.#parts
    const position = simulated.positionOf(peer)
    if (position !== undefined) simulated.dropCluster(position.cluster)
    this.#askForLook()
  }

  #comeBack(peer: PeerId): void {
    const { simulated, watch } = this.#parts
    this.#gone.delete(peer)
    simulated.network.restore(peer)
    watch?.event(`${peer} is back`, simulated.clock.now())
    this.#askForLook()
    this.#expectLoss(peer)
  }

  #askForLook(): void {
    if (this.#lookAsked) return
    this.#lookAsked = true
    const { simulated } = this.#parts
    const { clock } = simulated
    clock.at(clock.now() + comesBackWithinMs, () => {
      this.#lookAsked = false
      if (this.#replanning) this.#askForLook()
      else this.#look().catch(simulated.fail)
    })
  }

  #layoutOfThosePresent(): Layout | DoesNotFit {
    const { pool, profile, seed } = this.#parts
    const key = [...this.#gone].toSorted().join('\n')
    const peers = pool.peers.filter(({ id }) => !this.#gone.has(id))
    const links = pool.links.filter(({ between }) => !between.some((id) => this.#gone.has(id)))
    const layout = this.#layouts.get(key) ?? planPool({ pool: { ...pool, peers, links }, profile, seed })
    this.#layouts.set(key, layout)
    return layout
  }

  async #look(): Promise<void> {
    const { simulated, pool, schedule } = this.#parts
    const { layout: before, active } = simulated.plan
    const layout = this.#layoutOfThosePresent()
    if ('feasible' in layout) return
    const now = active.reduce((sum, cluster) => sum + (before.clusters[cluster]?.samplesPerSecond ?? 0), 0)
    if (layout.samplesPerSecond < worthwhile * now) return
    this.#replanning = true
    await simulated.drain()
    const next = { ...schedule(layout), number: simulated.plan.number + 1 }
    await simulated.handOut(pool.peers[0]?.id ?? '', next)
    this.plans += 1
    this.#replanning = false
    simulated.begin(next)
    this.#dropLost(next)
  }

  /** Who went while the weights travelled holds no stage. */
  #dropLost({ layout }: Plan): void {
    for (const [cluster, { stages }] of layout.clusters.entries())
      if (stages.some(({ peer }) => this.#gone.has(peer))) this.#parts.simulated.dropCluster(cluster)
  }
}
