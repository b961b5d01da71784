/**
 * What a hop over a real encrypted link costs, between two processes on loopback, and what the codecs do. Medians
 * after warm-up. `npm run bench -- wire [--json]`. A hop: from `send` to the word that the whole message came.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { privateKeyToProtobuf } from '@libp2p/crypto/keys'
import { createIdentity } from '../../main/edge/identity/identity.ts'
import { createJobKey } from '../../main/edge/identity/job-key.ts'
import type { JobLinks } from '../../main/edge/swarm/swarm.ts'
import { codec, pack, unpack } from '../../shared/codec/codec.ts'
import { createRng, nextNormal } from '../../shared/random.ts'
import { floatTensor, type HostTensor } from '../../shared/tensor.ts'
import { listen } from '../contracts/links.ts'
import type { ChildOrders } from '../edge/swarm/child.ts'
import { certify, enter, startAgent } from '../edge/swarm/pool.ts'
import { median } from '../../shared/median.ts'

const warmUps = 8
const rounds = 15
/** In flight at once in the stream of micro-batches, as a pipeline has them. */
const inFlight = 4
const megabytes = [1, 4, 16]
/** Once, and not counted: some seconds of training, after which both ends are compiled. */
const warmUpMegabytes = 16

interface Pair {
  readonly links: JobLinks
  readonly peer: string
  /** Resolves when so many activations came there in all. */
  readonly arrived: (count: number) => Promise<void>
  /** CPU seconds of both processes so far. */
  readonly cpuSeconds: () => number
  readonly stop: () => Promise<void>
}

const secondsOf = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1e6

async function startChild(orders: ChildOrders): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, 'wire/child.ts'), [JSON.stringify(orders)])
  await once(child, 'spawn')
  return child
}

/** This process and another one, linked. */
async function openPair(): Promise<Pair> {
  const key = createJobKey()
  const agent = await startAgent()
  const links = enter(agent, key, certify(key, agent.swarm.self, 'host'))
  const inbox = listen(links)
  const { peer, privateKey } = await createIdentity()
  const child = await startChild({
    privateKey: Buffer.from(privateKeyToProtobuf(privateKey)).toString('base64'),
    publicKey: key.publicKey,
    certificate: certify(key, peer),
    host: links.self,
    addresses: agent.swarm.addresses(),
  })
  let theirs = 0
  child.on('message', (usage) => {
    theirs = secondsOf(usage as NodeJS.CpuUsage)
  })
  await inbox.until(() => inbox.heard.length === 1)
  return {
    links,
    peer,
    arrived: (count) => inbox.until(() => inbox.heard.length > count),
    cpuSeconds: () => secondsOf(process.cpuUsage()) + theirs,
    async stop() {
      child.disconnect()
      await agent.swarm.stop()
    },
  }
}

function tensorOf(megabyte: number): HostTensor {
  const rng = createRng(1)
  return floatTensor(Float32Array.from({ length: (megabyte * 1e6) / 4 }, () => nextNormal(rng)))
}

async function timeHops({ links, peer, arrived, cpuSeconds }: Pair, sent: { count: number }, size: number) {
  const tensor = tensorOf(size)
  const send = async () => {
    const microBatch = sent.count++
    const header = { type: 'activation', job: links.job, plan: 0, microBatch, purpose: 'train' } as const
    await links.send(peer, { header, tensors: [tensor] })
  }
  const times: number[] = []
  let cpu = 0
  for (let round = 0; round < warmUps + rounds; round++) {
    if (round === warmUps) cpu = cpuSeconds()
    const before = performance.now()
    await send()
    await arrived(sent.count)
    times.push(performance.now() - before)
  }
  const used = cpuSeconds() - cpu
  const streamed = performance.now()
  await Promise.all(Array.from({ length: inFlight * rounds }, send))
  await arrived(sent.count)
  const streamSeconds = (performance.now() - streamed) / 1000
  return {
    [`${size} MB hop ms`]: median(times.slice(warmUps)),
    [`${size} MB hop MB/s`]: size / (median(times.slice(warmUps)) / 1000),
    [`${size} MB streamed MB/s`]: (size * inFlight * rounds) / streamSeconds,
    [`${size} MB CPU s/GB, both ends`]: used / ((size * rounds) / 1000),
  }
}

/** GB of float32 a second, written and read. */
function timeCodecs(): Record<string, number> {
  const tensor = tensorOf(16)
  const timed = (work: () => unknown) => {
    const times = Array.from({ length: warmUps + rounds }, () => {
      const before = performance.now()
      work()
      return performance.now() - before
    })
    return tensor.data.byteLength / 1e6 / median(times.slice(warmUps))
  }
  return Object.fromEntries(
    codec.options.slice(1).flatMap((name) => {
      const packed = pack(tensor, name)
      return [
        [`${name} encode GB/s`, timed(() => pack(tensor, name))],
        [`${name} decode GB/s`, timed(() => unpack(packed))],
      ]
    }),
  )
}

export async function benchWire(): Promise<Record<string, number>> {
  // As the agent does: without it, every 64 MB that travel cost a full garbage collection.
  setFlagsFromString('--external-memory-accounted-in-global-limit')
  const pair = await openPair()
  const sent = { count: 0 }
  await timeHops(pair, sent, warmUpMegabytes)
  const figures: Record<string, number> = {}
  for (const size of megabytes) Object.assign(figures, await timeHops(pair, sent, size))
  await pair.stop()
  return { ...figures, ...timeCodecs() }
}
