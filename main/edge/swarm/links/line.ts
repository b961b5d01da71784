/** Which of this PC's lines leads to a peer. A pipeline within a home and averages with another home meet on neither. */
import { BlockList, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'

/** Of the local network, this PC itself included, or the one beyond its router. */
export type Line = 'local' | 'beyond'

type Interfaces = ReturnType<typeof networkInterfaces>

/** As in a connection's multiaddress: `/ip4/192.168.1.7/tcp/4001`. */
const ipOf = (address: string): string | undefined => /^\/ip[46]\/([^/]+)\//.exec(address)?.[1]

const familyOf = (ip: string) => (isIP(ip) === 6 ? 'ipv6' : 'ipv4')

function networksOf(interfaces: Interfaces): BlockList {
  const networks = new BlockList()
  for (const { cidr } of Object.values(interfaces).flatMap((each) => each ?? [])) {
    const [network, prefix] = cidr?.split('/') ?? []
    if (network !== undefined) networks.addSubnet(network, Number(prefix), familyOf(network))
  }
  return networks
}

/**
 * The line that a connection to this multiaddress takes, as far as the networks of this PC's interfaces tell.
 * By way of a relay, or under a name, it is beyond.
 */
export function lineTo(address: string, interfaces: Interfaces = networkInterfaces()): Line {
  const ip = ipOf(address)
  if (ip === undefined || isIP(ip) === 0 || address.includes('/p2p-circuit')) return 'beyond'
  return networksOf(interfaces).check(ip, familyOf(ip)) ? 'local' : 'beyond'
}
