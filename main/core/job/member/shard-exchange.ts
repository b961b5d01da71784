/** The shards of a job, both ways: we serve what the manifest names and fetch what our stage reads. */
import { CorruptShardError, InvariantError } from '../../../../shared/errors.ts'
import type { PeerId } from '../../../../shared/ids.ts'
import type { DataManifest } from '../../../../shared/job/data.ts'
import type { WireMessage } from '../../../../shared/messages/wire.ts'
import { fetchShards, serveShards, type ShardFetch, type ShardHandler, shardsNeeded } from '../shards.ts'
import type { MemberPorts } from './member-ports.ts'

export interface ShardFetchSetup {
  readonly reads: { readonly inputs: boolean; readonly labels: boolean }
  readonly sources: readonly PeerId[]
  readonly planNumber: () => number
  readonly signal: AbortSignal
}

export class ShardExchange {
  readonly #ports: MemberPorts
  readonly #job: string
  #manifest: DataManifest | undefined
  #serving: ShardHandler | undefined
  #fetching: ShardFetch | undefined

  constructor(ports: MemberPorts, job: string) {
    this.#ports = ports
    this.#job = job
  }

  /** From now on this is the job's data. */
  use(manifest: DataManifest): void {
    this.#manifest = manifest
    this.#serving = serveShards(this.#ports, { job: this.#job, manifest })
  }

  /** Bring the shards here that are not. @throws CorruptShardError, DiskFullError, PeerLostError, AbortedError */
  async fetch({ reads, ...request }: ShardFetchSetup): Promise<void> {
    if (this.#manifest === undefined)
      throw new InvariantError('shards are fetched before there is a manifest')
    const shards = shardsNeeded(this.#manifest, reads)
    if (request.sources.length === 0) return this.#checkOwn(shards.map((shard) => shard.hash))
    this.#fetching = fetchShards(this.#ports, { job: this.#job, shards, ...request })
    await this.#fetching.done
  }

  /** The host itself: nobody else has them. */
  async #checkOwn(hashes: readonly string[]): Promise<void> {
    for (const hash of hashes)
      if (!(await this.#ports.store.has(hash)))
        throw new CorruptShardError(
          'a data shard is missing on this disk; launch the job again to make it anew',
        )
  }

  deliver(peer: PeerId, message: WireMessage): void {
    const from = { peer, standing: 'member' as const }
    if (this.#fetching?.deliver(from, message) !== true) this.#serving?.deliver(from, message)
  }

  lost(peer: PeerId): void {
    this.#fetching?.lost(peer)
  }
}
