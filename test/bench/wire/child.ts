/** The far end of a hop: a member in a process of its own, which says of every activation that it came. */
import { setFlagsFromString } from 'node:v8'
import { privateKeyFromProtobuf } from '@libp2p/crypto/keys'
import { createMembership } from '../../../main/edge/identity/certificate.ts'
import { createSwarm } from '../../../main/edge/swarm/swarm.ts'
import type { ChildOrders } from '../../edge/swarm/child.ts'
import { realClock } from '../../edge/swarm/real-clock.ts'

// As the agent does: without it, every 64 MB that travel cost a full garbage collection.
setFlagsFromString('--external-memory-accounted-in-global-limit')

const orders = JSON.parse(process.argv[2] ?? '') as ChildOrders
const swarm = await createSwarm({
  privateKey: privateKeyFromProtobuf(Buffer.from(orders.privateKey, 'base64')),
  listen: { address: '127.0.0.1', port: 0 },
  localDiscovery: false,
  log: () => undefined,
  verifyRecord: () => false,
  clock: realClock,
})
const { certificate, host, addresses } = orders
const links = swarm.openLinks({
  ...createMembership(orders.publicKey, Date.now),
  certificate,
  hosting: false,
})
const header = { type: 'stage-ready', job: links.job, plan: 0 } as const
links.onMessage((_from, message) => {
  if (message.header.type !== 'activation') return
  void links.send(host, { header: { ...header, plan: message.header.microBatch }, tensors: [] })
  // Beside the network, so that the sender need not ask: this process's CPU time so far.
  process.send?.(process.cpuUsage())
})
await links.learnAddresses(host, addresses)
await links.send(host, { header, tensors: [] })
process.on('disconnect', () => process.exit(0))
