/** TLS on the socket itself speaks with libp2p's own TLS, loses nothing, and lets nobody pass for another. */
import { createServer, connect as connectTcp, type AddressInfo, type Server } from 'node:net'
import type { ConnectionEncrypter, Connection } from '@libp2p/interface'
import { generateKeyPair } from '@libp2p/crypto/keys'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { tcp } from '@libp2p/tcp'
import { tls, type TLSComponents } from '@libp2p/tls'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p, type Libp2p } from 'libp2p'
import { afterEach, describe, expect, it } from 'vitest'
import { nativeTls } from '../../../main/edge/swarm/tls/native-tls.ts'
import { createRng, nextInt } from '../../../shared/random.ts'

type Encrypter = (components: TLSComponents) => ConnectionEncrypter
const protocol = '/echo/1'

const open: (() => unknown)[] = []
afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

async function startNode(encrypter: Encrypter): Promise<Libp2p> {
  const node = await createLibp2p({
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [tcp()],
    connectionEncrypters: [encrypter],
    streamMuxers: [yamux()],
  })
  open.push(() => node.stop())
  await node.handle(protocol, (stream) => {
    stream.addEventListener('message', ({ data }) => {
      stream.send(data.slice())
    })
  })
  return node
}

/** Send so many bytes there and back, in pieces of many sizes. */
async function echoed(connection: Connection, bytes: Uint8Array): Promise<Uint8Array> {
  const stream = await connection.newStream(protocol)
  const back = new Uint8Array(bytes.length)
  let came = 0
  const whole = new Promise<void>((resolve) => {
    stream.addEventListener('message', ({ data }) => {
      back.set(data.subarray(), came)
      came += data.byteLength
      if (came === back.length) resolve()
    })
  })
  const rng = createRng(1)
  for (let at = 0; at < bytes.length;) {
    const piece = bytes.subarray(at, at + 1 + nextInt(rng, 100_000))
    at += piece.length
    if (!stream.send(piece))
      await new Promise((resolve) => {
        stream.addEventListener('drain', resolve, { once: true })
      })
  }
  await whole
  return back
}

/** The first connection of a node that others dial. */
async function connectionOf(node: Libp2p): Promise<Connection> {
  const opened = new Promise<Connection>((resolve) => {
    node.addEventListener('connection:open', ({ detail }) => { resolve(detail) }, { once: true }) // prettier-ignore
  })
  return node.getConnections()[0] ?? (await opened)
}

/** A server that is in the way: what it hears goes on in pieces of so many bytes. */
async function startChopper(to: number, pieceBytes: number): Promise<Server> {
  const server = createServer({ noDelay: true }, (near) => {
    const far = connectTcp({ port: to, host: '127.0.0.1', noDelay: true })
    for (const [from, into] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (data: Buffer) => {
        for (let at = 0; at < data.length; at += pieceBytes) into.write(data.subarray(at, at + pieceBytes))
      })
      from.on('close', () => into.destroy())
      from.on('error', () => into.destroy())
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push(() => server.close())
  return server
}

const portOf = (node: Libp2p): number => Number(/tcp\/(\d+)/.exec(String(node.getMultiaddrs()[0]))?.[1])
const randomBytes = (length: number): Uint8Array => {
  const rng = createRng(2)
  return Uint8Array.from({ length }, () => nextInt(rng, 256))
}

describe('TLS on the socket itself', () => {
  it.each([
    { dialer: 'ours', dialing: nativeTls(), listener: 'ours', listening: nativeTls() },
    { dialer: 'ours', dialing: nativeTls(), listener: "libp2p's", listening: tls() },
    { dialer: "libp2p's", dialing: tls(), listener: 'ours', listening: nativeTls() },
  ])('carries all bytes from $dialer to $listener and back', async ({ dialing, listening }) => {
    const [near, far] = await Promise.all([startNode(dialing), startNode(listening)])
    const connection = await near.dial(far.getMultiaddrs())
    expect(connection.encryption).toBe('/tls/1.0.0')
    expect(connection.remotePeer.toString()).toBe(far.peerId.toString())
    expect((await connectionOf(far)).remotePeer.toString()).toBe(near.peerId.toString())
    const bytes = randomBytes(3_000_000)
    expect(Buffer.compare(await echoed(connection, bytes), bytes)).toBe(0)
  })

  it.each([1, 700])('begins also where bytes come %i at a time', async (pieceBytes) => {
    const [near, far] = await Promise.all([startNode(nativeTls()), startNode(nativeTls())])
    const { port } = (await startChopper(portOf(far), pieceBytes)).address() as AddressInfo
    const connection = await near.dial(multiaddr(`/ip4/127.0.0.1/tcp/${port}/p2p/${far.peerId.toString()}`))
    const bytes = randomBytes(5000)
    expect(Buffer.compare(await echoed(connection, bytes), bytes)).toBe(0)
  })

  it('refuses whoever answers in place of the peer that was called', async () => {
    const [near, far] = await Promise.all([startNode(nativeTls()), startNode(nativeTls())])
    const other = peerIdFromPrivateKey(await generateKeyPair('Ed25519')).toString()
    await expect(near.dial(multiaddr(`/ip4/127.0.0.1/tcp/${portOf(far)}/p2p/${other}`))).rejects.toThrow(
      /[Pp]eer/,
    )
    expect(near.getConnections()).toEqual([])
  })

  it('refuses a peer whose certificate is not signed by its own key', async () => {
    const stranger = await generateKeyPair('Ed25519')
    const own = await generateKeyPair('Ed25519')
    // Says that it is the stranger, and signs with a key of its own.
    const forging = Object.create(own, {
      publicKey: { value: stranger.publicKey },
      sign: { value: own.sign.bind(own) },
    }) as typeof own
    const forger: Encrypter = (components) =>
      nativeTls()({
        privateKey: forging,
        logger: components.logger,
        // Not there yet when this is made.
        get upgrader() {
          return components.upgrader
        },
      })
    const [near, far] = await Promise.all([startNode(forger), startNode(nativeTls())])
    await expect(far.dial(near.getMultiaddrs())).rejects.toThrow(/verify signature/)
    await near.dial(far.getMultiaddrs()).catch(() => undefined)
    expect(far.getConnections().map(({ remotePeer }) => remotePeer.toString())).not.toContain(
      peerIdFromPrivateKey(stranger).toString(),
    )
  })

  it('ends at both ends when one goes away', async () => {
    const [near, far] = await Promise.all([startNode(nativeTls()), startNode(nativeTls())])
    const connection = await near.dial(far.getMultiaddrs())
    const theirs = await connectionOf(far)
    const ended = new Promise((resolve) => {
      theirs.addEventListener('close', resolve, { once: true })
    })
    connection.abort(new Error('enough'))
    await ended
    expect([connection.status, theirs.status]).not.toContain('open')
  })

  it('lives on where one side hangs up in the middle of what comes in', async () => {
    for (let round = 0; round < 10; round++) {
      const [near, far] = await Promise.all([startNode(nativeTls()), startNode(nativeTls())])
      const connection = await near.dial(far.getMultiaddrs())
      const theirs = await connectionOf(far)
      const ended = new Promise((resolve) => {
        connection.addEventListener('close', resolve, { once: true })
      })
      await far.unhandle(protocol)
      await far.handle(protocol, (stream) => {
        stream.addEventListener('message', () => {
          theirs.abort(new Error('enough'))
        })
      })
      const stream = await connection.newStream(protocol)
      const record = new Uint8Array(16_000)
      for (let sent = 0; sent < 15; sent++) stream.send(record)
      await ended
      expect(theirs.status).not.toBe('open')
    }
  })

  it('lives on where peers hang up while the other side is still at its handshake', async () => {
    for (let round = 0; round < 5; round++) {
      const [near, far] = await Promise.all([startNode(nativeTls()), startNode(nativeTls())])
      await near.dial(far.getMultiaddrs())
      await near.stop()
      await far.stop()
      expect([near.status, far.status]).toEqual(['stopped', 'stopped'])
    }
  })
})
