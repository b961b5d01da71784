/** The PCs of a chaos run: plugged in, started, gathered into one job, and all gone at the end. */
import { join } from 'node:path'
import type { JobFile } from '../../../shared/job/spec.ts'
import type { Bytes } from '../../../shared/units.ts'
import { AgentEndedError } from '../errors.ts'
import type { Ground } from './ground.ts'
import { Pc } from './pc.ts'
import type { Sight } from './sight.ts'

export interface ChaosPoolSetup {
  readonly agentEntry: string
  /** Each PC gets a home of its own in it. */
  readonly folder: string
  readonly ground: Ground
  readonly memoryBytes: Bytes
  readonly backend: string | undefined
  /** Of the time that an engine may work: all PCs are on this one. */
  readonly computeShare: number
}

export class ChaosPool {
  readonly #setup: ChaosPoolSetup
  readonly #sight: Sight
  readonly #pcs = new Map<string, Pc>()
  readonly #end = new AbortController()
  #invite = ''

  constructor(setup: ChaosPoolSetup, sight: Sight) {
    this.#setup = setup
    this.#sight = sight
  }

  /** Start an agent, and look at it from now on. */
  async #add(name: string): Promise<Pc> {
    const { ground, folder, ...rest } = this.#setup
    const pc = new Pc({ ...rest, name, home: join(folder, name), spot: await ground.plugIn(name) })
    this.#pcs.set(name, pc)
    this.#end.signal.throwIfAborted()
    await pc.start()
    await pc.command('setLimits', { computeShare: this.#setup.computeShare })
    void pc.look((snapshot) => {
      this.#sight.see(name, snapshot)
    }, this.#end.signal)
    return pc
  }

  /** The first one hosts, the others join. */
  async gather(names: readonly string[], job: JobFile): Promise<void> {
    const [host, ...members] = await Promise.all(names.map((name) => this.#add(name)))
    if (host === undefined) throw new AgentEndedError('a pool needs a peer')
    const { invite } = await host.command('host', { job })
    this.#invite = invite
    await Promise.all(members.map((pc) => pc.command('join', { invite })))
  }

  async join(name: string): Promise<void> {
    const pc = await this.#add(name)
    await pc.command('join', { invite: this.#invite })
  }

  /** @throws AgentEndedError for one that was never there, or left */
  get(name: string): Pc {
    const pc = this.#pcs.get(name)
    if (pc === undefined) throw new AgentEndedError(`${name} is not in the pool`)
    return pc
  }

  /** It is not one of ours any more. */
  forget(name: string): void {
    this.#pcs.delete(name)
    this.#sight.forget(name)
  }

  /** End every agent at once: their homes are thrown away. */
  async end(): Promise<void> {
    this.#end.abort()
    await Promise.all([...this.#pcs.values()].map((pc) => pc.kill()))
    this.#pcs.clear()
  }
}
