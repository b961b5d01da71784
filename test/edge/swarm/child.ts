/** A member in a process of its own, to be killed or frozen: reads what it is to be from its first argument. */
import { privateKeyFromProtobuf } from '@libp2p/crypto/keys'
import { createMembership } from '../../../main/edge/identity/certificate.ts'
import { createSwarm } from '../../../main/edge/swarm/swarm.ts'
import type { Certificate } from '../../../shared/messages/wire.ts'
import { realClock } from './real-clock.ts'

export interface ChildOrders {
  readonly privateKey: string
  readonly publicKey: string
  readonly certificate: Certificate
  readonly host: string
  readonly addresses: readonly string[]
}

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
await links.learnAddresses(host, addresses)
await links.send(host, { header: { type: 'stage-ready', job: links.job, plan: 0 }, tensors: [] })
// The heartbeat does not hold a process; this does.
setInterval(() => undefined, 60_000)
