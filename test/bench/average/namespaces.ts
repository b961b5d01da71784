/** Shaped lines between network namespaces of this machine: a bridge in one, a member's end of a cable in each other. */
import { execFileSync } from 'node:child_process'
import type { BytesPerSecond, Millis } from '../../../shared/units.ts'
import { kibibyte, second } from '../../../shared/units.ts'

export interface Line {
  /** What each member may send; its download is not limited but by what the others send. */
  readonly bytesPerSecond: BytesPerSecond
  /** One way. */
  readonly latencyMs: Millis
}

export interface Namespaces {
  /** To put before a command, so that it runs as this member. */
  readonly prefix: (member: number) => readonly string[]
  readonly address: (member: number) => string
  /** Every member has this line from now on. False: this kernel cannot delay packets, so the latency is left out. */
  readonly shape: (line: Line) => boolean
  /** May be called again. */
  readonly clear: () => void
}

/** How long a packet may wait in the queue before the line, as in a home router that is not the worst. */
const longestQueueMs = 50
/** Larger than a packet of the kernel's offload, and what a timer that is late lets pass. */
const leastBurst = 80 * kibibyte
const burstSeconds = 0.002

const run = (command: string, ...words: string[]): void => {
  execFileSync(command, words, { stdio: ['ignore', 'ignore', 'pipe'] })
}

function succeeds(command: string, ...words: string[]): boolean {
  try {
    run(command, ...words)
    return true
  } catch {
    return false
  }
}

/** Why none can be made here; undefined where they can. */
export function whyNoNamespaces(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'this bench shapes lines between network namespaces, which takes root on Linux: run it as root'
  if (!succeeds('ip', 'netns', 'list') || !succeeds('tc', '-V'))
    return 'this bench needs the commands ip and tc: install iproute2'
  return undefined
}

/** Lay the cables. The names carry our process id, so that two benches do not meet and what one left is known by its name. */
export function layNamespaces(members: number): Namespaces {
  const name = (part: string) => `rookery-bench-${process.pid}-${part}`
  const hub = name('hub')
  const all = Array.from({ length: members }, (_, member) => member)
  const made: string[] = []
  const clear = () => {
    process.removeListener('exit', clear)
    for (const one of made.splice(0).reverse()) succeeds('ip', 'netns', 'del', one)
  }
  const make = (one: string) => {
    run('ip', 'netns', 'add', one)
    made.push(one)
    run('ip', '-n', one, 'link', 'set', 'lo', 'up')
  }
  const address = (member: number) => `10.77.0.${member + 1}`
  process.on('exit', clear)
  // A bench that is stopped from outside clears up as well: by default a signal ends a process without its 'exit'.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
  try {
    make(hub)
    run('ip', '-n', hub, 'link', 'add', 'bridge', 'type', 'bridge')
    run('ip', '-n', hub, 'link', 'set', 'bridge', 'up')
    for (const member of all) {
      const own = name(String(member))
      const port = `port${member}`
      make(own)
      run('ip', '-n', hub, 'link', 'add', port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', own)
      run('ip', '-n', hub, 'link', 'set', port, 'master', 'bridge', 'up')
      run('ip', '-n', own, 'addr', 'add', `${address(member)}/24`, 'dev', 'eth0')
      run('ip', '-n', own, 'link', 'set', 'eth0', 'up')
    }
  } catch (error) {
    clear()
    throw error
  }
  return {
    clear,
    address,
    prefix: (member) => ['ip', 'netns', 'exec', name(String(member))],
    shape({ bytesPerSecond, latencyMs }) {
      const burst = Math.max(leastBurst, bytesPerSecond * burstSeconds)
      const rate = `${Math.round(bytesPerSecond * 8)}bit`
      const bucket = ['rate', rate, 'burst', `${Math.round(burst)}b`, 'latency', `${longestQueueMs}ms`]
      for (const member of all)
        run('tc', '-n', name(String(member)), 'qdisc', 'replace', 'dev', 'eth0', 'root', 'tbf', ...bucket)
      if (latencyMs === 0) return true
      const delay = `${Math.round((latencyMs / second) * 1e6)}us`
      return all.every((member) =>
        succeeds(
          ...(['tc', '-n', hub, 'qdisc', 'replace', 'dev', `port${member}`] as const),
          ...(['root', 'netem', 'limit', '100000', 'delay', delay] as const),
        ),
      )
    },
  }
}
