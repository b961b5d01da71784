/** The end of a run: one last validation, the weights travel to the host, the model is written. */
import { PeerLostError } from '../../../../shared/errors.ts'
import type { WireMessage } from '../../../../shared/messages/wire.ts'
import { layoutOfGraph, stateLayout } from '../../../../shared/model/layout.ts'
import { scoresOf } from '../../../../shared/model/tally.ts'
import { second } from '../../../../shared/units.ts'
import { joinStates } from '../../model/state.ts'
import type { StateVector } from '../../ports.ts'
import { peersOf } from '../plan-in-force.ts'
import { StateReceiver } from '../transfer.ts'
import type { HostState } from './host-state.ts'
import { reportOfRun } from './run-report.ts'
import { planOf } from './train.ts'

/** Without a byte for so long, the peer that should send weights is given up. */
const silentWithinMs = 120 * second

/** Write the model of the first cluster that can hand it over whole. @returns its folder @throws PeerLostError */
export async function conclude(host: HostState, signal: AbortSignal): Promise<string> {
  for (const cluster of planOf(host).active) {
    host.enter('finishing', 'last validation')
    await validateFinally(host, cluster, signal)
    host.enter('finishing', 'weights travel to the host')
    const state = await collect(host, cluster, signal)
    if (state === undefined) continue
    const model = { spec: host.hosted.spec, state: state.values, report: reportOfRun(host) }
    const directory = await host.ports.vault.saveModel(host.hosted.job, model)
    host.log.say(`the model is in ${directory}`)
    return directory
  }
  throw new PeerLostError(
    'no whole cluster is left to hand over the model; start again when all members are there',
  )
}

async function validateFinally(host: HostState, cluster: number, signal: AbortSignal): Promise<void> {
  const { validationSamples } = host.hosted.spec.data
  const root = peersOf(planOf(host), cluster)[0] ?? ''
  if (validationSamples === 0) return
  const id = (host.validation?.id ?? 0) + 1
  host.validation = { id, cluster }
  void host.send(root, { type: 'validate', id, samples: validationSamples })
  const answered = () => host.validation?.tally !== undefined || !wholeCluster(host, cluster)
  await host.watch.until(answered, { signal, withinMs: 10 * silentWithinMs })
  if (host.validation.tally !== undefined) host.finalScores = scoresOf(host.validation.tally)
}

function wholeCluster(host: HostState, cluster: number): boolean {
  return peersOf(planOf(host), cluster).every((peer) => host.roll.isPresent(peer))
}

async function collect(
  host: HostState,
  cluster: number,
  signal: AbortSignal,
): Promise<StateVector | undefined> {
  const { graph } = host.hosted.spec
  const layouts = layoutOfGraph(graph)
  const parts: StateVector[] = []
  for (const { peer, layers } of planOf(host).layout.clusters[cluster]?.stages ?? []) {
    const receiver = new StateReceiver(layers, stateLayout(layouts, layers).length)
    host.incoming.set(peer, receiver)
    void host.send(peer, { type: 'parameters-request', layers: [...layers] })
    const settled = () => receiver.complete || !host.roll.isPresent(peer)
    const arrived = await host.watch.until(settled, { signal, withinMs: silentWithinMs })
    host.incoming.delete(peer)
    if (!arrived || !receiver.complete) return undefined
    parts.push(receiver.state)
  }
  return joinStates(graph, parts)
}

/** A piece of a stage's weights. @throws BadMessageError */
export function noteParameters(host: HostState, from: string, message: WireMessage<'parameters'>): void {
  host.incoming.get(from)?.accept(message)
  host.watch.notify()
}
