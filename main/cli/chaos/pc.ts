/** One PC of a chaos run: an agent as a process that can be killed, frozen, cut off and started again. */
import { setTimeout as sleep } from 'node:timers/promises'
import { connectAgent, type AgentClient } from '../../edge/control/client.ts'
import type { CommandInput, CommandName, CommandOutput, Snapshot } from '../../../shared/messages/control.ts'
import { second, type Bytes, type Millis } from '../../../shared/units.ts'
import { startAgent, type AgentProcess } from '../agent-process.ts'
import { AgentEndedError } from '../errors.ts'
import type { Spot } from './ground.ts'

/** A busy agent answers late; one that does not answer at all is stuck. */
const answersWithinMs: Millis = 20 * second
const lookEveryMs: Millis = second / 2

export interface PcSetup {
  readonly name: string
  readonly home: string
  readonly agentEntry: string
  readonly spot: Spot
  readonly memoryBytes: Bytes
  readonly backend: string | undefined
}

export class Pc {
  readonly #setup: PcSetup
  #agent: AgentProcess | undefined
  #client: AgentClient | undefined
  #frozen = false
  #starting: Promise<void> = Promise.resolve()

  constructor(setup: PcSetup) {
    this.#setup = setup
  }

  get name(): string {
    return this.#setup.name
  }

  get spot(): Spot {
    return this.#setup.spot
  }

  /** Start its agent, as the desktop does after a crash: it goes back to its job by itself. */
  start(): Promise<void> {
    this.#starting = this.#launch()
    return this.#starting
  }

  async #launch(): Promise<void> {
    const { name, home, agentEntry, spot, memoryBytes, backend } = this.#setup
    const agent = await startAgent(agentEntry, {
      ...{ home, memoryBytes, displayName: name, address: spot.address, within: spot.within },
      ...{ localDiscovery: false, rejoin: true },
      // Many agents on one machine; their shares of its time are counted with one thread each.
      threads: 1,
      ...(backend === undefined ? {} : { backend }),
    })
    this.#agent = agent
    this.#client = await connectAgent(home)
  }

  /** As a power cut would. Resolves when it is gone. */
  async kill(): Promise<void> {
    // A home has room for one agent: one that still starts is not left behind.
    await this.#starting.catch(() => undefined)
    const agent = this.#agent
    this.#agent = undefined
    this.#client?.close()
    this.#client = undefined
    this.#frozen = false
    agent?.kill()
    await agent?.ended
  }

  freeze(): void {
    if (this.#agent === undefined) return
    this.#frozen = true
    process.kill(this.#agent.pid, 'SIGSTOP')
  }

  thaw(): void {
    if (this.#agent === undefined || !this.#frozen) return
    process.kill(this.#agent.pid, 'SIGCONT')
    this.#frozen = false
  }

  /** @throws AgentEndedError when it does not run, or does not answer; RemoteError when it refuses */
  async command<N extends CommandName>(name: N, input: CommandInput<N>): Promise<CommandOutput<N>> {
    const client = this.#client
    if (client === undefined) throw new AgentEndedError(`${this.name} does not run`)
    const late = new AbortController()
    const silence = sleep(answersWithinMs, undefined, { signal: late.signal }).then((): never => {
      throw new AgentEndedError(`${this.name} did not answer ${name} for ${answersWithinMs / second} s`)
    })
    silence.catch(() => undefined)
    try {
      return await Promise.race([client.command(name, input), silence])
    } finally {
      late.abort()
    }
  }

  /** What it shows, twice a second, for as long as the signal lets us look. */
  async look(see: (snapshot: Snapshot) => void, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const client = this.#client
      if (client !== undefined && !this.#frozen) {
        const seen = await client.command('status', {}).catch(() => undefined)
        if (seen !== undefined && client === this.#client) see(seen)
      }
      await sleep(lookEveryMs, undefined, { signal }).catch(() => undefined)
    }
  }
}
