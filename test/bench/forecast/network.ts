/** PCs as network namespaces of this machine: each with its own line, or behind one that its home shares. */
import { execFileSync } from 'node:child_process'
import { kibibyte, type BytesPerSecond, type Millis } from '../../../shared/units.ts'

/** Mbit/s; absent: as fast as this machine. */
export interface Line {
  readonly up?: number
  readonly down?: number
}

export interface Place extends Line {
  /** Number of its home; PCs of one home meet without their home's line. */
  readonly home: number
}

export interface Network {
  readonly address: (pc: number) => string
  /** To put before a command, so that it runs on this PC. */
  readonly within: (pc: number) => readonly string[]
  /** May be called again. */
  readonly clear: () => void
}

/**
 * A line carries packets of 1500 bytes. What the kernel hands over in one piece of up to 64 kB would wait, pass and get
 * lost as a whole: of a queue of 50 ms at 20 Mbit/s that is a third.
 */
const packetsAtOnce = '1'

/** How long a packet may wait before a line, as in a home router that is not the worst. */
const longestQueueMs: Millis = 50
/** Larger than a packet of the kernel's offload, and what a timer that is late lets pass. */
const leastBurst = 80 * kibibyte
const burstSeconds = 0.002

const run = (command: string, ...words: readonly string[]): void => {
  execFileSync(command, words, { stdio: ['ignore', 'ignore', 'pipe'] })
}

const bytesPerSecond = (megabits: number): BytesPerSecond => (megabits * 1e6) / 8

/** What leaves by this device is held to a rate. */
function shape(space: string, device: string, megabits: number | undefined): void {
  if (megabits === undefined) return
  const rate = bytesPerSecond(megabits)
  const burst = Math.round(Math.max(leastBurst, rate * burstSeconds))
  const bucket = ['rate', `${rate * 8}bit`, 'burst', `${burst}b`, 'latency', `${longestQueueMs}ms`]
  run('tc', '-n', space, 'qdisc', 'replace', 'dev', device, 'root', 'tbf', ...bucket)
}

/**
 * Lay the cables: a switch a home, and one more that joins the homes. The names carry our process id, so that what a
 * killed run left is known.
 *
 * @param homes - the lines of the homes to each other
 */
export function layNetwork(places: readonly Place[], homes: readonly Line[]): Network {
  const name = (part: string) => `rookery-bench-${process.pid}-${part}`
  const hub = name('hub')
  const made: string[] = []
  const clear = () => {
    process.removeListener('exit', clear)
    for (const one of made.splice(0).reverse()) {
      try {
        run('ip', 'netns', 'del', one)
      } catch {
        // Somebody else has removed it.
      }
    }
  }
  const inHub = (...words: readonly string[]) => {
    run('ip', '-n', hub, 'link', ...words)
  }
  const make = (one: string) => {
    run('ip', 'netns', 'add', one)
    made.push(one)
    run('ip', '-n', one, 'link', 'set', 'lo', 'up')
  }
  const addBridge = (bridge: string) => {
    inHub('add', 'name', bridge, 'type', 'bridge')
    inHub('set', bridge, 'up')
  }
  /** A network of its own a home, as behind a router. */
  const address = (pc: number) => `10.78.${places[pc]?.home ?? 0}.${pc + 1}`
  process.on('exit', clear)
  try {
    make(hub)
    addBridge('street')
    for (const [number, line] of homes.entries()) {
      const [home, street] = [`up${number}`, `down${number}`]
      addBridge(`home${number}`)
      inHub('add', home, 'type', 'veth', 'peer', 'name', street)
      inHub('set', home, 'master', `home${number}`, 'up')
      inHub('set', street, 'master', 'street', 'up')
      shape(hub, home, line.up)
      shape(hub, street, line.down)
    }
    for (const [pc, place] of places.entries()) {
      const [space, port] = [name(String(pc)), `port${pc}`]
      make(space)
      inHub('add', port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space)
      run('ip', '-n', space, 'link', 'set', 'eth0', 'gso_max_segs', packetsAtOnce)
      inHub('set', port, 'master', `home${place.home}`, 'up')
      run('ip', '-n', space, 'addr', 'add', `${address(pc)}/24`, 'dev', 'eth0')
      run('ip', '-n', space, 'link', 'set', 'eth0', 'up')
      run('ip', '-n', space, 'route', 'add', '10.78.0.0/16', 'dev', 'eth0')
      shape(space, 'eth0', place.up)
      shape(hub, port, place.down)
    }
  } catch (error) {
    clear()
    throw error
  }
  return { address, clear, within: (pc) => ['ip', 'netns', 'exec', name(String(pc))] }
}
