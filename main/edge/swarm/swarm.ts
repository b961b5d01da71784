/** This agent's place in the swarm: one libp2p network, the links of the job it serves, and the directory of jobs. */
import type { PeerId as LibPeerId, Stream } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import { InvariantError, PeerLostError } from '../../../shared/errors.ts'
import type { JobId, PeerId } from '../../../shared/ids.ts'
import type { JobRecord } from '../../../shared/invite.ts'
import type { Clock, Log } from '../../core/ports.ts'
import { dialableAddresses, parseAddresses } from './addresses.ts'
import { createJobDirectory, recordRules } from './job-directory.ts'
import { openKnownPeers } from './known-peers.ts'
import {
  LinksOfJob,
  usualPatience,
  type JobContext,
  type JobLinks,
  type Network,
  type Patience,
} from './links/job-links.ts'
import { acceptStream } from './links/arrival.ts'
import { lineTo } from './links/line.ts'
import { createShaper, type Caps, type TrafficCount } from './links/shaper.ts'
import { startNetwork, type NetworkSettings, type Node } from './network.ts'
import { createRelayUse, relayGate, type RelayUse } from './relay.ts'

export type { JobLinks } from './links/job-links.ts'

const protocol = '/rookery/frames/2'
/** Of peers found on the local network, so many are connected to for the sake of the directory. */
const maxChanceConnections = 16

export interface SwarmSettings extends Pick<NetworkSettings, 'privateKey' | 'listen' | 'localDiscovery'> {
  /** Folder for what is known of other peers; undefined: forget it with the process. */
  readonly datastorePath?: string
  readonly log: Log
  /** Whether a directory record is signed by the job that it names. */
  readonly verifyRecord: (record: JobRecord) => boolean
  readonly patience?: Partial<Patience>
  readonly clock: Clock
}

export interface Swarm {
  readonly self: PeerId
  /** Where others reach us, best first, each with our peer id. */
  addresses(): readonly string[]
  /** Message passing for one job; the one before must be closed. */
  openLinks(context: JobContext): JobLinks
  /** Get to know a peer by any of its addresses, and through it the swarm. @throws PeerLostError */
  connect(addresses: readonly string[]): Promise<PeerId>
  /** Publish where a job's host is, now and every ten minutes. Resolves once another peer keeps it: do not wait for it. */
  announceJob(record: JobRecord): Promise<void>
  findJob(job: JobId, signal?: AbortSignal): Promise<JobRecord | undefined>
  /** What the line may carry, from now on. */
  setCaps(caps: Caps): void
  /** Bytes of all jobs since the start. */
  traffic(): TrafficCount
  stop(): Promise<void>
}

/** A stream to a peer, directly or, where that fails, by way of our host. @throws what the direct way threw */
async function dial(
  node: Node,
  relays: RelayUse,
  { peer, signal }: { readonly peer: LibPeerId; readonly signal: AbortSignal },
): Promise<Stream> {
  const options = { signal, runOnLimitedConnection: true }
  try {
    return await node.dialProtocol(peer, protocol, options)
  } catch (error) {
    const detours = relays.detoursTo(peer.toString())
    if (detours.length === 0 || signal.aborted) throw error
    return await node.dialProtocol(detours, protocol, options).catch(() => {
      throw error
    })
  }
}

/** How the links reach the network. */
function networkOf(node: Node, relays: RelayUse, settings: SwarmSettings): Network {
  const idOf = (peer: PeerId) => {
    try {
      return peerIdFromString(peer)
    } catch {
      throw new PeerLostError(`'${peer}' is not the id of a peer`)
    }
  }
  return {
    self: node.peerId.toString(),
    log: settings.log,
    now: Date.now,
    patience: { ...usualPatience, ...settings.patience },
    shaper: createShaper(settings.clock),
    dial: async (peer, signal) => {
      const stream = await dial(node, relays, { peer: idOf(peer), signal })
      const connections = node.getConnections(idOf(peer))
      const under = connections.find(({ streams }) => streams.includes(stream))
      return { stream, line: lineTo(under?.remoteAddr.toString() ?? '') }
    },
    drop: (peer, reason) => {
      for (const connection of node.getConnections(idOf(peer))) connection.abort(new PeerLostError(reason))
    },
    learnAddresses: async (peer, addresses) => {
      const multiaddrs = parseAddresses(addresses)
      if (multiaddrs.length > 0) await node.peerStore.merge(idOf(peer), { multiaddrs })
    },
    addresses: () => dialableAddresses(node.getMultiaddrs().map(String)),
    onAccepted: (peer, standing) => {
      if (standing === 'host') relays.reserveAt(peer)
    },
  }
}

/** Peers of the local network are worth a connection, up to a number. */
function meetNeighbours(node: Node, log: Log): void {
  node.addEventListener('peer:discovery', ({ detail: { id } }) => {
    if (node.getConnections().length >= maxChanceConnections) return
    node.dial(id).catch((error: unknown) => {
      log('debug', 'a discovered peer does not answer', { peer: id.toString(), error: String(error) })
    })
  })
}

async function connectTo(node: Node, addresses: readonly string[]): Promise<PeerId> {
  const multiaddrs = parseAddresses(addresses)
  if (multiaddrs.length === 0) throw new PeerLostError('there is no address to connect to')
  try {
    return (await node.dial(multiaddrs)).remotePeer.toString()
  } catch (error) {
    throw new PeerLostError(`nobody answers at ${addresses.join(', ')}: ${String(error)}`)
  }
}

/**
 * Join the swarm.
 *
 * @throws AlreadyInUseError when the port or the datastore is taken; InvalidInputError when the address is not ours
 */
export async function createSwarm(settings: SwarmSettings): Promise<Swarm> {
  const { datastorePath, log, verifyRecord } = settings
  let links: LinksOfJob | undefined
  const datastore = datastorePath === undefined ? undefined : await openKnownPeers(datastorePath, log)
  const node = await startNetwork({
    ...settings,
    datastore,
    records: recordRules(verifyRecord),
    gater: relayGate((peer) => links?.isHosting === true && links.isMember(peer)),
  }).catch(async (error: unknown) => {
    await datastore?.close()
    throw error
  })
  const relays = createRelayUse(node, log)
  const directory = createJobDirectory({ dht: node.services.dht, verify: verifyRecord, log })
  const network = networkOf(node, relays, settings)
  meetNeighbours(node, log)
  await node.handle(
    protocol,
    (stream, { remotePeer, id }) => {
      if (links !== undefined) links.accept(stream, remotePeer.toString(), id)
      else acceptStream(stream, { admit: () => 'unknown-job', malformed: () => undefined })
    },
    { runOnLimitedConnection: true, maxInboundStreams: 64, maxOutboundStreams: 64 },
  )
  return {
    self: network.self,
    addresses: network.addresses,
    openLinks(context) {
      if (links !== undefined && !links.isClosed) throw new InvariantError('the agent serves a job already')
      links = new LinksOfJob(network, context)
      return links
    },
    connect: (addresses) => connectTo(node, addresses),
    announceJob: (record) => directory.announce(record),
    findJob: (job, signal) => directory.find(job, signal),
    setCaps: (caps) => {
      network.shaper.setCaps(caps)
    },
    traffic: () => network.shaper.traffic(),
    async stop() {
      links?.close()
      directory.stop()
      relays.stop()
      await node.stop()
      await datastore?.close()
    },
  }
}
