/** Relays of the pool: a host passes on what its members cannot send each other directly, and nobody else's. */
import { circuitRelayTransport } from '@libp2p/circuit-relay-v2'
import type { Connection, ConnectionGater, PeerId as LibPeerId, Transport } from '@libp2p/interface'
import { multiaddr, type Multiaddr } from '@multiformats/multiaddr'
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
  /** Where a member is to be reached that does not answer directly: it has a place at the same relays. */
  detoursTo(peer: PeerId): Multiaddr[]
  stop(): void
}

/** The address behind the relay at the other end of a connection: of the place there, or of a peer at its place. */
function detour(connection: Connection, peer?: PeerId): Multiaddr {
  const base = connection.remoteAddr.toString().replace(/\/p2p\/[^/]+$/, '')
  const relay = connection.remotePeer.toString()
  return multiaddr(`${base}/p2p/${relay}/p2p-circuit${peer === undefined ? '' : `/p2p/${peer}`}`)
}

const isDirect = (connection: Connection): boolean =>
  !connection.remoteAddr.toString().includes('/p2p-circuit')

/**
 * Keep a place at our host's relay. libp2p drops the place with the connection and does not ask for it again
 * (js-libp2p#3601), so we do whenever the relay is back.
 */
export function createRelayUse(node: Node, log: Log): RelayUse {
  const wanted = new Set<PeerId>()
  const listening = new Set<PeerId>()

  const directTo = (relay: PeerId): Connection | undefined =>
    node.getConnections().find((one) => one.remotePeer.toString() === relay && isDirect(one))

  async function reserve(relay: PeerId): Promise<void> {
    const connection = directTo(relay)
    const circuit = node.services.listenAt.getTransports().find(isCircuit)
    // A relay that we reach over another relay cannot pass on for us.
    if (connection === undefined || circuit === undefined) return
    if (circuit.reservationStore.hasReservation(connection.remotePeer)) return
    if (listening.has(relay)) await circuit.reservationStore.addRelay(connection.remotePeer, 'configured')
    else {
      await node.services.listenAt.listen([detour(connection)])
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
    detoursTo: (peer) =>
      [...wanted].flatMap((relay) => {
        const connection = relay === peer ? undefined : directTo(relay)
        return connection === undefined ? [] : [detour(connection, peer)]
      }),
    stop() {
      wanted.clear()
      node.removeEventListener('peer:connect', onConnect)
    },
  }
}
