/**
 * TLS as libp2p speaks it, on the socket itself. @libp2p/tls puts a JavaScript stream between the socket and Node's TLS,
 * and every record of 16 KiB passes it both ways: half of the processor time of a hop. On the line nothing differs.
 *
 * @see https://github.com/libp2p/specs/blob/master/tls/tls.md
 */
import { Socket } from 'node:net'
import { connect, TLSSocket, type TLSSocketOptions } from 'node:tls'
import type {
  ConnectionEncrypter,
  MessageStream,
  PeerId,
  SecureConnectionOptions,
  SecuredConnection,
  StreamMessageEvent,
} from '@libp2p/interface'
import { tls, type TLSComponents } from '@libp2p/tls'
import { generateCertificate, verifyPeerCertificate } from '@libp2p/tls/utils'
import { BadMessageError, PeerLostError } from '../../../../shared/errors.ts'
import { kibibyte } from '../../../../shared/units.ts'
import { EncryptedSocket } from './encrypted-socket.ts'

/** What a side says that agrees on the muxer only afterwards. */
const muxerLater = 'libp2p'

/** The socket under a connection of @libp2p/tcp, which its types do not show; undefined where a relay is under it. */
function socketUnder(connection: MessageStream): Socket | undefined {
  const { socket } = connection as { readonly socket?: unknown }
  return socket instanceof Socket ? socket : undefined
}

/** From now on what comes in is for TLS, also what the connection has read and nobody took. */
async function takeFrom(connection: MessageStream, socket: Socket): Promise<void> {
  socket.pause()
  socket.removeAllListeners('data')
  if (connection.readBufferLength === 0) return
  const early = await new Promise<StreamMessageEvent>((resolve) => {
    connection.addEventListener('message', resolve, { once: true })
  })
  socket.unshift(early.data.subarray())
}

/** Resolves when the handshake is over; rejects when the socket fails or closes before, or the signal fires. */
function handshake(socket: TLSSocket, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (deed: () => void): void => {
      socket.off('secure', onSecure).off('error', onError).off('close', onClose)
      signal?.removeEventListener('abort', onAbort)
      deed()
    }
    const fail = (text: string): void => {
      settle(() => {
        reject(new PeerLostError(text))
      })
    }
    const onSecure = (): void => {
      settle(resolve)
    }
    const onError = (error: Error): void => {
      fail(`the encryption could not begin: ${error.message}`)
    }
    const onClose = (): void => {
      fail('the connection closed before it was encrypted')
    }
    const onAbort = (): void => {
      fail('the encryption did not begin in time')
    }
    socket.on('secure', onSecure).on('error', onError).on('close', onClose)
    signal?.addEventListener('abort', onAbort)
    if (signal?.aborted === true) onAbort()
  })
}

/** What both sides say: version, and that the certificate is judged by us alone. */
async function usualOptions({ privateKey, upgrader }: TLSComponents, options?: SecureConnectionOptions) {
  const muxers = options?.skipStreamMuxerNegotiation === true ? [] : [...upgrader.getStreamMuxers().keys()]
  return {
    ...(await generateCertificate(privateKey, options)),
    minVersion: 'TLSv1.3',
    maxVersion: 'TLSv1.3',
    // Nobody signed it; verifyPeerCertificate looks for the peer's own signature.
    rejectUnauthorized: false,
    ALPNProtocols: [...muxers, muxerLater],
    highWaterMark: 256 * kibibyte,
  } as const satisfies TLSSocketOptions & { highWaterMark: number }
}

interface Side {
  readonly isServer: boolean
  readonly socket: Socket
}

async function openSocket(
  components: TLSComponents,
  { isServer, socket }: Side,
  options?: SecureConnectionOptions,
) {
  const usual = await usualOptions(components, options)
  if (!isServer) return connect({ socket, ...usual })
  const { ALPNProtocols: known, ...rest } = usual
  return new TLSSocket(socket, {
    ...{ ...rest, isServer, requestCert: true },
    ALPNCallback: ({ protocols }) => protocols.find((one) => known.includes(one)),
  })
}

/** @throws BadMessageError where the certificate is not that of the peer we look for, or of none */
async function peerOf(socket: TLSSocket, expected: PeerId | undefined): Promise<PeerId> {
  const { raw } = socket.getPeerCertificate() as { readonly raw?: Buffer }
  if (raw === undefined) throw new BadMessageError('it showed no certificate')
  return verifyPeerCertificate(raw, expected)
}

/**
 * Where the socket under it is closed, Node frees the state of TLS as soon as a TLS socket is destroyed, also within a
 * callback of that state, which then reads what is gone: the process dies. In a turn of its own nothing uses it.
 */
function freeLater(socket: TLSSocket): void {
  const free = socket._destroy.bind(socket)
  socket._destroy = (error, done) => {
    // What comes until then would be taken for the code of an error, and end the process.
    const { _handle: handle } = socket as unknown as { readonly _handle: { onread: () => void } | null }
    if (handle !== null) handle.onread = () => undefined
    setImmediate(() => {
      free(error, done)
    })
  }
}

async function secure(
  components: TLSComponents,
  { connection, ...side }: Side & { readonly connection: MessageStream },
  options?: SecureConnectionOptions,
): Promise<SecuredConnection> {
  await takeFrom(connection, side.socket)
  const socket = await openSocket(components, side, options)
  freeLater(socket)
  // For as long as it lives: a dial that was given up fails once more, when nobody waits for it.
  socket.on('error', (error: Error) => {
    connection.abort(error)
  })
  try {
    await handshake(socket, options?.signal)
    const encrypted = new EncryptedSocket(connection, socket)
    const remotePeer = await peerOf(socket, options?.remotePeer)
    const { alpnProtocol: agreed } = socket
    const streamMuxer =
      typeof agreed === 'string' ? components.upgrader.getStreamMuxers().get(agreed) : undefined
    return { connection: encrypted, remotePeer, ...(streamMuxer === undefined ? {} : { streamMuxer }) }
  } catch (error) {
    socket.destroy()
    connection.abort(error instanceof Error ? error : new PeerLostError(String(error)))
    throw error
  }
}

/** A connection encrypter for libp2p. Connections that are no sockets, those by way of a relay, go the usual way. */
export function nativeTls(): (components: TLSComponents) => ConnectionEncrypter {
  return (components) => {
    const usual = tls()(components)
    const choose =
      (isServer: boolean) =>
      (connection: MessageStream, options?: SecureConnectionOptions): Promise<SecuredConnection> => {
        const socket = socketUnder(connection)
        if (socket !== undefined) return secure(components, { connection, socket, isServer }, options)
        return isServer ? usual.secureInbound(connection, options) : usual.secureOutbound(connection, options)
      }
    return { protocol: usual.protocol, secureInbound: choose(true), secureOutbound: choose(false) }
  }
}
