/** Shards on their way between peers: who asks for which, in bounded pieces, from several sources, checked by hash. */
import {
  BadMessageError,
  CorruptShardError,
  InvariantError,
  PeerLostError,
  PoolError,
  RefusedError,
} from '../../../shared/errors.ts'
import type { PeerId } from '../../../shared/ids.ts'
import type { DataManifest, Shard } from '../../../shared/job/data.ts'
import type { Header, Refusal, WireMessage } from '../../../shared/messages/wire.ts'
import { type Bytes, type Millis, mebibyte, second } from '../../../shared/units.ts'
import type { Clock, Links, Sender, ShardStore } from '../ports.ts'

/** Bytes of a shard in one message: a heartbeat never waits behind more. */
const pieceBytes: Bytes = mebibyte
/** Requests of one peer that wait here; it asks again for what is dropped beyond. */
const maxQueuedRequests = 16
/** Shards fetched side by side: hides the round trip without crowding a home uplink. */
const fetchedAtOnce = 4
/** A mebibyte from a host that serves ten members at 10 Mbit/s takes 34 s when each asks for four. */
const pieceDeadline: Millis = 60 * second
/** Failures of all sources in a row until a fetch gives up. */
const maxRounds = 3

/** Takes the messages of its own that a router hands on. False: the message is not for it. */
export interface ShardHandler {
  deliver(from: Sender, message: WireMessage): boolean
}

/** Shards of the columns that a peer reads, each hash once: root inputs, leaf labels, stages between nothing. */
export function shardsNeeded(
  manifest: DataManifest,
  reads: { readonly inputs: boolean; readonly labels: boolean },
): readonly Shard[] {
  const columns = [...(reads.inputs ? [manifest.inputs] : []), ...(reads.labels ? [manifest.labels] : [])]
  return [...new Map(columns.flatMap(({ shards }) => shards).map((shard) => [shard.hash, shard])).values()]
}

/** Answers requests for the shards of one job: to its members only, from its manifest only, one peer's in turn. */
export function serveShards(
  { store, links }: { readonly store: ShardStore; readonly links: Links },
  { job, manifest }: { readonly job: string; readonly manifest: DataManifest },
): ShardHandler {
  const sizes = new Map(
    shardsNeeded(manifest, { inputs: true, labels: true }).map(({ hash, bytes }) => [hash, bytes]),
  )
  const queues = new Map<PeerId, { waiting: number; last: Promise<void> }>()

  async function answer(to: PeerId, request: Header<'shard-request'>): Promise<void> {
    const { id, hash, offset, plan } = request
    const bytes = sizes.get(hash)
    const piece =
      bytes === undefined || offset >= bytes ? undefined : await store.read(hash, offset, pieceBytes)
    if (bytes === undefined || piece === undefined || piece.length === 0)
      return refuse(to, request, 'unknown-shard')
    await links.send(to, {
      header: { type: 'shard-piece', job, plan, id, hash, offset, bytes },
      tensors: [{ dtype: 'uint8', shape: [piece.length], data: piece }],
    })
  }

  // The plan of the request comes back with the answer: a shard is named by its hash, whatever the plan.
  function refuse(to: PeerId, { id, plan }: Header<'shard-request'>, refusal: Refusal): Promise<void> {
    return links.send(to, { header: { type: 'shard-refused', job, plan, id, refusal }, tensors: [] })
  }

  function enqueue(to: PeerId, task: () => Promise<void>): void {
    const queue = queues.get(to) ?? { waiting: 0, last: Promise.resolve() }
    if (queue.waiting >= maxQueuedRequests) return
    queues.set(to, queue)
    queue.waiting += 1
    // A peer that is gone, or a disk that fails, costs this answer only: the asker has a deadline and other sources.
    const run = () => task().catch(() => undefined)
    queue.last = queue.last.then(run).then(() => {
      queue.waiting -= 1
      if (queue.waiting === 0) queues.delete(to)
    })
  }

  return {
    deliver(from, { header }) {
      if (header.type !== 'shard-request' || header.job !== job) return false
      enqueue(from.peer, () =>
        from.standing === 'stranger' ? refuse(from.peer, header, 'not-a-member') : answer(from.peer, header),
      )
      return true
    },
  }
}

/** What to fetch, and from whom. */
export interface FetchRequest {
  readonly job: string
  /** The plan in force: it may change while shards travel. */
  readonly planNumber: () => number
  readonly shards: readonly Shard[]
  /** Peers that hold them, best first. Ourselves is not among them. */
  readonly sources: readonly PeerId[]
  readonly signal: AbortSignal
  readonly onProgress?: (progress: { readonly received: Bytes; readonly total: Bytes }) => void
}

export interface ShardFetch extends ShardHandler {
  /** A peer is gone: what was asked of it is asked of another. */
  lost(peer: PeerId): void
  /**
   * Every shard is here and has its hash.
   * @throws PeerLostError or RefusedError when no source is left; CorruptShardError; DiskFullError; AbortedError
   */
  readonly done: Promise<void>
}

interface FetchPorts {
  readonly store: ShardStore
  readonly links: Links
  readonly clock: Clock
}

/** A request that waits for its answer. */
interface Question {
  readonly source: PeerId
  readonly shard: Shard
  readonly offset: Bytes
  readonly answer: PromiseWithResolvers<Uint8Array>
}

/** The bytes that answer a question. @throws BadMessageError when they answer another */
function pieceOf({ source, shard, offset }: Question, { header, tensors }: WireMessage<'shard-piece'>) {
  const piece = tensors[0]?.data
  const fits = header.hash === shard.hash && header.offset === offset && header.bytes === shard.bytes
  if (!fits || tensors.length !== 1 || !(piece instanceof Uint8Array) || piece.length === 0)
    throw new BadMessageError(`peer ${source} sent another piece of a shard than it was asked for`)
  if (piece.length > Math.min(pieceBytes, shard.bytes - offset))
    throw new BadMessageError(`peer ${source} sent a longer piece of a shard than there is`)
  return piece
}

type Asker = ReturnType<typeof createAsker>

/** Asks for one piece at a time of a shard, with a deadline. */
function createAsker({ links, clock }: FetchPorts, { job, planNumber }: FetchRequest) {
  const questions = new Map<number, Question>()
  let nextId = 0
  return {
    /** Bytes of the shard from `offset`. @throws PeerLostError, RefusedError, BadMessageError, AbortedError */
    ask: async (source: PeerId, shard: Shard, offset: Bytes, signal: AbortSignal): Promise<Uint8Array> => {
      const id = nextId++
      const answer = Promise.withResolvers<Uint8Array>()
      questions.set(id, { source, shard, offset, answer })
      const over = new AbortController()
      const either = AbortSignal.any([signal, over.signal])
      const header = { type: 'shard-request' as const, job, plan: planNumber(), id, hash: shard.hash, offset }
      clock.sleep(pieceDeadline, either).then(() => {
        answer.reject(new PeerLostError(`peer ${source} sent no piece of a shard for ${pieceDeadline} ms`))
      }, answer.reject)
      links.send(source, { header, tensors: [] }, either).catch(answer.reject)
      try {
        return await answer.promise
      } finally {
        questions.delete(id)
        over.abort()
      }
    },
    deliver: (from: Sender, { header, tensors }: WireMessage): boolean => {
      if (header.type !== 'shard-piece' && header.type !== 'shard-refused') return false
      const question = questions.get(header.id)
      if (header.job !== job || question?.source !== from.peer) return false
      try {
        if (header.type === 'shard-piece') question.answer.resolve(pieceOf(question, { header, tensors }))
        else throw new RefusedError(header.refusal, `peer ${from.peer} gives no shard: ${header.refusal}`)
      } catch (thrown) {
        question.answer.reject(thrown)
      }
      return true
    },
    lost: (peer: PeerId): void => {
      for (const { source, answer } of questions.values())
        if (source === peer) answer.reject(new PeerLostError(`peer ${peer} is gone`))
    },
  }
}

/** Which source to ask next: in turn, those that failed us last. */
function createSources(all: readonly PeerId[]) {
  const failing = new Set<PeerId>()
  return {
    pick(allowed: (peer: PeerId) => boolean, turn: number): PeerId | undefined {
      const candidates = all.filter(allowed)
      const sound = candidates.filter((peer) => !failing.has(peer))
      const pool = sound.length > 0 ? sound : candidates
      return pool[turn % pool.length]
    },
    failed: (peer: PeerId) => failing.add(peer),
    answered: (peer: PeerId) => failing.delete(peer),
  }
}

interface FetchContext extends FetchPorts {
  readonly request: FetchRequest
  readonly asker: Asker
  readonly sources: ReturnType<typeof createSources>
  /** Bytes that came, or turned out to be worth nothing. */
  readonly add: (bytes: Bytes) => void
}

/** Fetch shards that are not here yet; goes on where an earlier fetch stopped. */
export function fetchShards(ports: FetchPorts, request: FetchRequest): ShardFetch {
  const asker = createAsker(ports, request)
  const total = request.shards.reduce((sum, { bytes }) => sum + bytes, 0)
  let received = 0
  const add = (bytes: Bytes) => {
    received += bytes
    request.onProgress?.({ received, total })
  }
  const context = { ...ports, request, asker, sources: createSources(request.sources), add }
  const done = inParallel(request, (shard, turn, signal) => fetchOne(context, shard, turn, signal))
  return { deliver: asker.deliver, lost: asker.lost, done }
}

/** One shard, whole and checked; a corrupt one once more from elsewhere. */
async function fetchOne(
  context: FetchContext,
  shard: Shard,
  turn: number,
  signal: AbortSignal,
): Promise<void> {
  const { store, add, sources, request } = context
  if (await store.has(shard.hash)) {
    add(shard.bytes)
    return
  }
  const resumed = (await store.received(shard.hash)) > 0
  const senders = await download(context, shard, { turn, allowed: () => true, signal })
  if (await store.seal(shard.hash)) return
  add(-shard.bytes)
  for (const peer of senders) sources.failed(peer)
  const others = request.sources.filter((peer) => !senders.has(peer))
  // Without another source, a second try helps only where the first began on bytes that an earlier run left.
  const allowed = others.length > 0 ? others : resumed ? request.sources : []
  const task = { turn, allowed: (peer: PeerId) => allowed.includes(peer), signal }
  const again = allowed.length > 0 ? await download(context, shard, task).catch(peerFaultOnly) : undefined
  if (again !== undefined && (await store.seal(shard.hash))) return
  const blamed = [...new Set([...senders, ...(again ?? [])])].join(', ')
  throw new CorruptShardError(
    `shard ${shard.hash.slice(0, 12)} from peer ${blamed} does not have the hash that the job's manifest names`,
  )
}

/** Where an unfinished shard goes on; a part longer than the shard is thrown away. */
async function resumeAt(store: ShardStore, { hash, bytes }: Shard): Promise<Bytes> {
  const offset = await store.received(hash)
  if (offset <= bytes) return offset
  if (await store.seal(hash)) throw new InvariantError(`shard ${hash} is longer than its manifest says`)
  return 0
}

/** All bytes of a shard from the allowed sources. @returns who sent some of them */
async function download(
  { store, clock, request, asker, sources, add }: FetchContext,
  shard: Shard,
  task: DownloadTask,
): Promise<ReadonlySet<PeerId>> {
  const senders = new Set<PeerId>()
  const refusers = new Set<PeerId>()
  const maxFailures = maxRounds * request.sources.length
  let { turn } = task
  let failures = 0
  let fault: PoolError = new PeerLostError(`no peer is left that has shard ${shard.hash.slice(0, 12)}`)
  let offset = await resumeAt(store, shard)
  add(offset)
  while (offset < shard.bytes) {
    const source = sources.pick((peer) => task.allowed(peer) && !refusers.has(peer), turn)
    if (source === undefined || failures >= maxFailures) throw fault
    try {
      const piece = await asker.ask(source, shard, offset, task.signal)
      await store.append(shard.hash, offset, piece)
      senders.add(source)
      sources.answered(source)
      offset += piece.length
      failures = 0
      add(piece.length)
    } catch (thrown) {
      fault = peerFaultOf(thrown)
      turn += 1
      failures += 1
      if (fault instanceof RefusedError) refusers.add(source)
      else sources.failed(source)
      if (failures % request.sources.length === 0) await clock.sleep(second, task.signal)
    }
  }
  return senders
}

interface DownloadTask {
  /** Which source begins. */
  readonly turn: number
  readonly allowed: (peer: PeerId) => boolean
  readonly signal: AbortSignal
}

/** A peer's fault as a value; anything else goes on up. */
function peerFaultOf(thrown: unknown): PoolError {
  if (thrown instanceof PoolError && thrown.kind === 'peer-fault') return thrown
  throw thrown
}

function peerFaultOnly(thrown: unknown): undefined {
  peerFaultOf(thrown)
}

/** Runs the fetches a few at a time; the first failure stops the rest and is thrown when all have stopped. */
async function inParallel(
  { shards, signal }: FetchRequest,
  fetchOne: (shard: Shard, turn: number, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController()
  const either = AbortSignal.any([signal, stop.signal])
  const queue = [...shards.entries()]
  const faults: unknown[] = []
  async function work(): Promise<void> {
    for (let next = queue.shift(); next !== undefined && faults.length === 0; next = queue.shift()) {
      try {
        await fetchOne(next[1], next[0], either)
      } catch (thrown) {
        faults.push(thrown)
        stop.abort()
      }
    }
  }
  await Promise.all(Array.from({ length: fetchedAtOnce }, work))
  if (faults.length > 0) throw faults[0]
}
