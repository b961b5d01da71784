/**
 * A network namespace a PC, and one more for the switch that joins them: nothing of it shows in the machine's own
 * network. Linux, as root. All names carry the process's id, so that what a killed run left is known and removed.
 */
import { execFile, execFileSync } from 'node:child_process'
import { promisify } from 'node:util'
import { loopback, type Ground, type Spot } from './ground.ts'

const run = promisify(execFile)
const prefix = 'rookery-chaos-'
/** A line as bad as a crowded café's; the queue is a second long. */
const slowLine = ['tbf', 'rate', '1mbit', 'burst', '32kbit', 'latency', '1s']

/** Namespaces where this process may make them, else loopback with the reason. */
export async function openGround(): Promise<Ground> {
  if (process.platform !== 'linux') return loopback('network namespaces need Linux')
  if (process.getuid?.() !== 0) return loopback('network namespaces need root')
  const ground = new Namespaces()
  try {
    await sweep()
    await ground.open()
    return ground
  } catch (thrown) {
    ground.clear()
    const { stderr } = thrown as { readonly stderr?: string }
    const why = (stderr ?? String(thrown)).trim().split('\n')[0] ?? ''
    return loopback(`no network namespaces here: ${why}`)
  }
}

class Namespaces implements Ground {
  readonly text = 'each in a network namespace of its own'
  readonly lacks = []
  readonly #made: string[] = []
  readonly #switch = `${prefix}${process.pid}-switch`

  async open(): Promise<void> {
    await this.#make(this.#switch)
    await run('ip', ['-n', this.#switch, 'link', 'add', 'name', 'joint', 'type', 'bridge'])
    await run('ip', ['-n', this.#switch, 'link', 'set', 'joint', 'up'])
  }

  async #make(name: string): Promise<void> {
    this.#made.push(name)
    await run('ip', ['netns', 'add', name])
  }

  async plugIn(name: string): Promise<Spot> {
    const space = `${prefix}${process.pid}-${name}`
    const number = this.#made.length
    const port = `port${number}`
    const address = `10.77.${Math.floor(number / 250)}.${(number % 250) + 1}`
    await this.#make(space)
    const inSwitch = (...words: readonly string[]) => run('ip', ['-n', this.#switch, 'link', ...words])
    const inSpace = (...words: readonly string[]) => run('ip', ['-n', space, ...words])
    await inSwitch('add', port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space)
    await inSwitch('set', port, 'master', 'joint', 'up')
    await inSpace('address', 'add', `${address}/16`, 'dev', 'eth0')
    await inSpace('link', 'set', 'eth0', 'up')
    await inSpace('link', 'set', 'lo', 'up')
    const ends = [
      [this.#switch, port],
      [space, 'eth0'],
    ] as const
    return {
      address,
      within: ['ip', 'netns', 'exec', space],
      async cut() {
        await inSwitch('set', port, 'down')
      },
      async slow() {
        for (const [where, device] of ends)
          await run('tc', ['-n', where, 'qdisc', 'replace', 'dev', device, 'root', ...slowLine])
      },
      async mend() {
        await inSwitch('set', port, 'up')
        for (const [where, device] of ends)
          // There is nothing to delete on a line that was not slow.
          await run('tc', ['-n', where, 'qdisc', 'del', 'dev', device, 'root']).catch(() => undefined)
      },
    }
  }

  clear(): void {
    for (const name of this.#made.splice(0)) remove(name)
  }
}

/** With the namespace go its ends of cables, and so the cables. */
function remove(name: string): void {
  try {
    execFileSync('ip', ['netns', 'delete', name], { stdio: 'ignore' })
  } catch {
    // It was never made, or somebody else has removed it.
  }
}

/** What a run that was killed has left: namespaces, and agents that were frozen in them. */
async function sweep(): Promise<void> {
  const { stdout } = await run('ip', ['netns', 'list'])
  for (const line of stdout.split('\n')) {
    const [name = ''] = line.split(' ')
    const owner = new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1]
    if (owner === undefined || lives(Number(owner))) continue
    const left = await run('ip', ['netns', 'pids', name])
    for (const pid of left.stdout.split('\n').filter((text) => text !== '')) end(Number(pid))
    remove(name)
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has just ended by itself.
  }
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
