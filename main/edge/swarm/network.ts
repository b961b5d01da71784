/** The libp2p network of this agent, with the settings that a pool of home computers needs. */
import { noise } from '@chainsafe/libp2p-noise'
import { circuitRelayServer, circuitRelayTransport } from '@libp2p/circuit-relay-v2'
import { identify } from '@libp2p/identify'
import type { ConnectionGater, Libp2p, PrivateKey, Transport } from '@libp2p/interface'
import { kadDHT, passthroughMapper, type KadDHT, type KadDHTInit } from '@libp2p/kad-dht'
import { mdns } from '@libp2p/mdns'
import { ping, type Ping } from '@libp2p/ping'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import type { Multiaddr } from '@multiformats/multiaddr'
import type { LevelDatastore } from 'datastore-level'
import { createLibp2p, type Libp2pOptions } from 'libp2p'
import { AlreadyInUseError, InvalidInputError } from '../../../shared/errors.ts'
import { hour, kibibyte, mebibyte, second } from '../../../shared/units.ts'
import { listenAddresses, compareForDialing } from './addresses.ts'
import { nativeTls } from './tls/native-tls.ts'

/** The part of libp2p's transport manager that only services can reach. */
interface ListenAt {
  listen(addresses: Multiaddr[]): Promise<void>
  getTransports(): Transport[]
}

/** Services that a rookery network has. */
type RookeryServices = Record<string, unknown> & {
  readonly dht: KadDHT
  readonly ping: Ping
  readonly listenAt: ListenAt
}
export type Node = Libp2p<RookeryServices>

export interface NetworkSettings {
  readonly privateKey: PrivateKey
  /** null: listen nowhere; others reach us over connections that we made, or over a relay. */
  readonly listen: { readonly address: string; readonly port: number } | null
  /** Find agents on the local network by multicast DNS. */
  readonly localDiscovery: boolean
  readonly datastore: LevelDatastore | undefined
  readonly records: Required<Pick<KadDHTInit, 'validators' | 'selectors'>>
  /** Who may use us as a relay, and whose relayed connections we take. */
  readonly gater: ConnectionGater
}

/** As many members as a pool relays at once. libp2p's 128 KiB and 2 minutes a connection would end any training. */
const relay = circuitRelayServer({
  reservations: { maxReservations: 64, reservationTtl: hour, applyDefaultLimit: false },
  maxInboundHopStreams: 64,
  maxOutboundHopStreams: 64,
})

/**
 * 40 MB/s over 50 ms. A stream that is held back to keep a download cap still takes what its window allowed before,
 * so it bounds how far such a cap is exceeded for a moment; libp2p ends a stream that buffers 4 MiB.
 */
const maxStreamWindowSize = 2 * mebibyte

/**
 * A stream's window begins with 256 KiB and grows where that is less than the line carries in four round trips. How long
 * those are is asked anew so often: on a line that is full both ways what opens the window waits behind the other side's
 * data, and a round trip that was measured while the line was idle would keep the window, and the line half empty.
 */
const roundTripEvery = 2 * second

/** A piece of bulk is 16 TLS records; at Node's 64 KiB each fourth would wait for a turn of the event loop. */
const sockets = { noDelay: true, highWaterMark: 256 * kibibyte }

const connections = {
  maxConnections: 1000,
  // Several computers behind one home address, or on one machine, join in the same second.
  inboundConnectionThreshold: 1000,
  maxIncomingPendingConnections: 100,
  addressSorter: compareForDialing,
  addressDialTimeout: 4 * second,
  dialTimeout: 20 * second,
}

/** libp2p's ping waits behind bulk on a slow line; whether a peer of a job lives, its links decide. */
const monitor = {
  pingInterval: 30 * second,
  pingTimeout: { minTimeout: 30 * second, maxTimeout: 60 * second },
  abortConnectionOnPingFailure: false,
}

function optionsOf(settings: NetworkSettings): Libp2pOptions<RookeryServices> {
  const { listen, datastore } = settings
  return {
    privateKey: settings.privateKey,
    addresses: { listen: listen === null ? [] : listenAddresses(listen.address, listen.port) },
    transports: [tcp({ dialOpts: sockets, listenOpts: sockets }), circuitRelayTransport()],
    connectionEncrypters: [nativeTls(), noise()],
    streamMuxers: [yamux({ keepAliveInterval: roundTripEvery, streamOptions: { maxStreamWindowSize } })],
    connectionManager: connections,
    connectionMonitor: monitor,
    connectionGater: settings.gater,
    ...(datastore === undefined ? {} : { datastore }),
    ...(settings.localDiscovery ? { peerDiscovery: [mdns({ serviceTag: '_rookery._udp.local' })] } : {}),
    services: {
      identify: identify(),
      ping: ping(),
      relay,
      dht: kadDHT({
        protocol: '/rookery/kad/1.0.0',
        clientMode: false,
        // Most pools live behind one router: private addresses are the ones that work.
        peerInfoMapper: passthroughMapper,
        allowQueryWithZeroPeers: true,
        ...settings.records,
      }),
      // Not the manager itself: libp2p would start it again, as a service, and listen twice.
      listenAt: ({ transportManager }: { readonly transportManager: ListenAt }): ListenAt => ({
        listen: (addresses) => transportManager.listen(addresses),
        getTransports: () => transportManager.getTransports(),
      }),
    },
  }
}

/**
 * Start the network.
 *
 * @throws AlreadyInUseError when the port is taken; InvalidInputError when this machine has no such address
 */
export async function startNetwork(settings: NetworkSettings): Promise<Node> {
  try {
    return await createLibp2p(optionsOf(settings))
  } catch (error) {
    const text = String(error)
    const { address, port } = settings.listen ?? { address: '', port: 0 }
    if (text.includes('EADDRINUSE'))
      throw new AlreadyInUseError(
        `port ${port} is taken by another program: close that, or set network.port to another or to 0`,
      )
    if (text.includes('EADDRNOTAVAIL') || text.includes('EACCES'))
      throw new InvalidInputError(
        `this computer cannot listen on ${address} port ${port}: change network.address or network.port`,
      )
    throw error
  }
}
