/** Which addresses to listen on, to tell others, and to try first. */
import type { Address } from '@libp2p/interface'
import { multiaddr, type Multiaddr } from '@multiformats/multiaddr'
import { isIP } from 'node:net'
import { InvalidInputError } from '../../../shared/errors.ts'

/** TCP on one address; `0.0.0.0` is every interface, of IPv6 too. Port 0: any free one. */
export function listenAddresses(address: string, port: number): string[] {
  const family = isIP(address)
  if (family === 0) throw new InvalidInputError(`network.address: '${address}' is not an IP address`)
  const own = `/ip${family}/${address}/tcp/${port}`
  return address === '0.0.0.0' ? [own, `/ip6/::/tcp/${port}`] : [own]
}

const isLoopback = (address: string): boolean => /^\/(ip4\/127\.|ip6\/::1\/)/.test(address)
const isRelayed = (address: string): boolean => address.includes('/p2p-circuit')
const isPrivate = (address: string): boolean =>
  /^\/(ip4\/(10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.)|ip6\/f[cde])/.test(address)
/** Of no use to another machine: unspecified, and IPv6 link-local without its interface. */
const isUndialable = (address: string): boolean => /^\/(ip4\/0\.0\.0\.0\/|ip6\/::\/|ip6\/fe80:)/.test(address)

/** What others should try: best first; loopback only where there is nothing else. */
export function dialableAddresses(all: readonly string[]): string[] {
  const usable = [...new Set(all)].filter((address) => !isUndialable(address))
  const abroad = usable.filter((address) => !isLoopback(address))
  return (abroad.some((address) => !isRelayed(address)) ? abroad : usable).sort((a, b) => rank(a) - rank(b))
}

/** Direct before relayed, whatever lies between: a public relay is still a detour. */
const rank = (address: string): number =>
  Number(isRelayed(address)) * 4 + Number(isLoopback(address)) * 2 + Number(isPrivate(address))

/** −1 where the first of two addresses of a peer is to be dialled first. */
export function compareForDialing(first: Address, second: Address): -1 | 0 | 1 {
  const difference = rank(first.multiaddr.toString()) - rank(second.multiaddr.toString())
  if (difference === 0) return 0
  return difference < 0 ? -1 : 1
}

/** The multiaddresses among texts that others sent; what is none is left out. */
export function parseAddresses(texts: readonly string[]): Multiaddr[] {
  return texts.flatMap((text) => {
    try {
      return [multiaddr(text)]
    } catch {
      return []
    }
  })
}
