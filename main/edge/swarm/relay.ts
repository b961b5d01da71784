/** Relays of the pool: a host passes on what its members cannot send each other directly, and nobody else's. */
import { circuitRelayTransport } from '@libp2p/circuit-relay-v2'
import type { ConnectionGater, PeerId as LibPeerId, Transport } from '@libp2p/interface'
import { multiaddr } from '@multiformats/multiaddr'
import type { PeerId } from '../../../shared/ids.ts'
import type { Log } from '../../core/ports.ts'
import type { Node } from './network.ts'

type CircuitTransport = ReturnType<ReturnType<typeof circuitRelayTransport>> & {
  readonly reservationStore: {
    hasReservation(relay: LibPeerId): boolean
    addRelay(relay: LibPeerId, kind: 'configured'): Promise<unknown>
  }
}

const isCircuit = (transport: Transport): transport is CircuitTransport =>
  transport[Symbol.toStringTag] === '@libp2p/circuit-relay-v2-transport'

/** Only members of the job that we host may be passed on, and only to each other. */
export function relayGate(mayRelay: (peer: PeerId) => boolean): ConnectionGater {
  return {
    denyInboundRelayReservation: (source) => !mayRelay(source.toString()),
    denyOutboundRelayedConnection: (source, destination) =>
      !mayRelay(source.toString()) || !mayRelay(destination.toString()),
  }
}

export interface RelayUse {
  /** Be reachable through this peer as long as we are connected to it. Goes on in the background. */
  reserveAt(relay: PeerId): void
  stop(): void
}

/**
 * Keep a place at our host's relay. libp2p drops the place with the connection and does not ask for it again
 * (js-libp2p#3601), so we do whenever the relay is back.
 */
export function createRelayUse(node: Node, log: Log): RelayUse {
  const wanted = new Set<PeerId>()
  const listening = new Set<PeerId>()

  async function reserve(relay: PeerId): Promise<void> {
    const connection = node.getConnections().find(({ remotePeer }) => remotePeer.toString() === relay)
    const circuit = node.services.listenAt.getTransports().find(isCircuit)
    // A relay that we reach over another relay cannot pass on for us.
    if (
      connection === undefined ||
      circuit === undefined ||
      connection.remoteAddr.toString().includes('/p2p-circuit')
    )
      return
    if (circuit.reservationStore.hasReservation(connection.remotePeer)) return
    if (listening.has(relay)) await circuit.reservationStore.addRelay(connection.remotePeer, 'configured')
    else {
      const base = connection.remoteAddr.toString().replace(/\/p2p\/[^/]+$/, '')
      await node.services.listenAt.listen([multiaddr(`${base}/p2p/${relay}/p2p-circuit`)])
      listening.add(relay)
    }
    log('debug', 'reachable through a relay', { relay })
  }
  function attempt(relay: PeerId): void {
    reserve(relay).catch((error: unknown) => {
      log('debug', 'no place at the relay', { relay, error: String(error) })
    })
  }
  const onConnect = ({ detail }: CustomEvent<LibPeerId>): void => {
    const peer = detail.toString()
    if (wanted.has(peer)) attempt(peer)
  }
  node.addEventListener('peer:connect', onConnect)
  return {
    reserveAt(relay) {
      wanted.add(relay)
      attempt(relay)
    },
    stop() {
      wanted.clear()
      node.removeEventListener('peer:connect', onConnect)
    },
  }
}
