/** The weights of a whole model on their way from the stages of one cluster to the host. */
import type { WireMessage } from '../../../../shared/messages/wire.ts'
import type { PeerId } from '../../../../shared/ids.ts'
import type { LayerRange } from '../../../../shared/model/graph.ts'
import { second } from '../../../../shared/units.ts'
import type { StateVector } from '../../ports.ts'
import { joinNumbers, numbersLength } from '../checkpoint.ts'
import { planOf } from '../plan-in-force.ts'
import { noteCursor } from './books.ts'
import { StateReceiver } from '../transfer.ts'
import type { HostState } from './host-state.ts'

/** Without a byte for so long, the peer that should send weights is given up. */
const silentWithinMs = 120 * second

export interface Collection {
  readonly cluster: number
  /** The optimizer's moments, too. */
  readonly optimizer: boolean
  /** Fires when it is not wanted any more: no further stage is asked. */
  readonly enough?: AbortSignal
}

/** Layers of one peer. */
interface HeldRun {
  readonly peer: PeerId
  readonly layers: LayerRange
}

/** The vectors of the whole model, or undefined when a stage is gone or silent. @throws AbortedError */
export async function collect(
  host: HostState,
  { cluster, ...how }: Collection,
  signal: AbortSignal,
): Promise<readonly StateVector[] | undefined> {
  const runs = planOf(host).layout.clusters[cluster]?.stages ?? []
  const parts = await collectRuns(host, { runs, ...how }, signal)
  const rest = () => host.ports.clock.sleep(0)
  return parts === undefined ? undefined : await joinNumbers(host.hosted.spec.graph, parts, rest)
}

/** What each of these peers holds of these layers, one after the other; undefined when one is gone or silent. */
export async function collectRuns(
  host: HostState,
  what: Omit<Collection, 'cluster'> & { readonly runs: readonly HeldRun[] },
  signal: AbortSignal,
): Promise<readonly StateVector[] | undefined> {
  const { graph, recipe } = host.hosted.spec
  const { runs, optimizer } = what
  const parts: StateVector[] = []
  for (const { peer, layers } of runs) {
    if (what.enough?.aborted === true) return undefined
    const length = numbersLength(graph, layers, optimizer ? recipe.optimizer : undefined)
    const receiver = new StateReceiver(layers, length)
    host.incoming.set(peer, receiver)
    try {
      void host.send(peer, { type: 'parameters-request', layers: [layers[0], layers[1]], optimizer })
      if (!(await arrives(host, receiver, peer, signal))) return undefined
    } finally {
      host.incoming.delete(peer)
    }
    parts.push(receiver.state)
  }
  return parts
}

/** As long as pieces come, a slow line is waited for. */
async function arrives(
  host: HostState,
  receiver: StateReceiver,
  peer: string,
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    const before = receiver.received
    const moved = () => receiver.received > before || receiver.complete || !host.roll.isPresent(peer)
    const inTime = await host.watch.until(moved, { signal, withinMs: silentWithinMs })
    if (receiver.complete) return true
    if (!inTime || !host.roll.isPresent(peer)) return false
  }
}

/** A piece of a stage's weights. @throws BadMessageError */
export function noteParameters(host: HostState, from: string, message: WireMessage<'parameters'>): void {
  host.incoming.get(from)?.accept(message)
  noteCursor(host, from, message.header.cursor)
  host.watch.notify()
}
