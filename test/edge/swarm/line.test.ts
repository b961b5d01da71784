import { expect, it } from 'vitest'
import { lineTo } from '../../../main/edge/swarm/links/line.ts'

const at = (address: string, cidr: string | null, family: 'IPv4' | 'IPv6') => ({
  ...{ address, cidr, netmask: '', mac: '', internal: false },
  ...(family === 'IPv4' ? { family } : { family, scopeid: 0 }),
})
const interfaces = {
  lo: [at('127.0.0.1', '127.0.0.1/8', 'IPv4'), at('::1', '::1/128', 'IPv6')],
  eth0: [at('192.168.1.5', '192.168.1.5/24', 'IPv4'), at('2001:db8:1::5', '2001:db8:1::5/64', 'IPv6')],
  tunnel: [at('100.64.0.1', '100.64.0.1/32', 'IPv4'), at('10.0.0.1', null, 'IPv4')],
}

it.each([
  ['/ip4/192.168.1.77/tcp/4001', 'local'],
  ['/ip4/192.168.2.77/tcp/4001', 'beyond'],
  ['/ip4/127.0.0.1/tcp/4001/p2p/12D3Koo', 'local'],
  ['/ip6/2001:db8:1::9/tcp/4001', 'local'],
  ['/ip6/2001:db8:2::9/tcp/4001', 'beyond'],
  ['/ip4/100.64.0.2/tcp/4001', 'beyond'],
  ['/ip4/10.0.0.2/tcp/4001', 'beyond'],
  ['/ip4/203.0.113.9/tcp/4001', 'beyond'],
  ['/ip4/192.168.1.77/tcp/4001/p2p/12D3Koo/p2p-circuit', 'beyond'],
  ['/dns4/example.org/tcp/4001', 'beyond'],
  ['/ip4/192.168.1.999/tcp/4001', 'beyond'],
  ['', 'beyond'],
])('the way to %s is %s', (address, line) => {
  expect(lineTo(address, interfaces)).toBe(line)
})
