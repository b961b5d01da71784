/** What a lost stage cannot take with it: the host keeps a whole model that is never much older than a minute or so. */
import { second } from '../../../../shared/units.ts'
import { planOf, peersOf } from '../plan-in-force.ts'
import { collect } from './collect.ts'
import type { HostState } from './host-state.ts'
import { samplesTrained } from './run-report.ts'

const atMostEveryMs = 10 * second
/** Of the time, so that the line stays free for the training. */
const shareOfTime = 1 / 20

/**
 * Take one after the other until `enough`; one under way is finished, so that what the stages send is asked for.
 * Never rejects.
 */
export async function keepCheckpoints(
  host: HostState,
  { signal, enough }: { readonly signal: AbortSignal; readonly enough: AbortSignal },
): Promise<void> {
  const { clock, log } = host.ports
  let tookMs = 0
  try {
    for (;;) {
      await clock.sleep(Math.max(atMostEveryMs, tookMs / shareOfTime), enough)
      const [cluster] = planOf(host).active
      const beganMs = clock.now()
      if (cluster !== undefined && host.phase === 'training') await takeCheckpoint(host, cluster, signal)
      tookMs = clock.now() - beganMs
    }
  } catch (error) {
    if (!enough.aborted) log('error', 'the host keeps no newer weights', { error: String(error) })
  }
}

/**
 * The model as one cluster has it. While the cluster trains, its stages are an update or so apart, as they are to
 * each other in an asynchronous pipeline; when it stands still, this is exact. False when a stage is gone or silent.
 */
export async function takeCheckpoint(
  host: HostState,
  cluster: number,
  signal: AbortSignal,
): Promise<boolean> {
  const root = peersOf(planOf(host), cluster)[0] ?? ''
  const trained = {
    updates: host.roll.get(root)?.progress?.updates ?? host.from.updates,
    samples: samplesTrained(host),
  }
  const vectors = await collect(host, { cluster, optimizer: true }, signal)
  if (vectors === undefined) return false
  host.checkpoint = { trained, vectors }
  return true
}
