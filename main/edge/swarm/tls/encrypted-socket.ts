/** A TLS socket as a stream of messages, which is what libp2p's muxer stands on. */
import { once } from 'node:events'
import type { TLSSocket } from 'node:tls'
import type { AbortOptions, MessageStream, StreamCloseEvent } from '@libp2p/interface'
import { AbstractMessageStream } from '@libp2p/utils'

type Pieces = Parameters<AbstractMessageStream['sendData']>[0]
type Sent = ReturnType<AbstractMessageStream['sendData']>

export class EncryptedSocket extends AbstractMessageStream {
  readonly #transport: MessageStream
  readonly #socket: TLSSocket
  #handOn: NodeJS.Immediate | undefined

  /** @param transport - what the socket belonged to: whoever made them ends it when the socket fails, and we end with it */
  constructor(transport: MessageStream, socket: TLSSocket) {
    super({
      log: transport.log,
      inactivityTimeout: transport.inactivityTimeout,
      maxReadBufferLength: transport.maxReadBufferLength,
      direction: transport.direction,
    })
    this.#transport = transport
    this.#socket = socket
    socket.on('data', (record: Uint8Array) => {
      this.#keep(record)
    })
    socket.on('drain', () => {
      this.safeDispatchEvent('drain')
    })
    transport.addEventListener('close', ({ error, local }: StreamCloseEvent) => {
      this.#deliver()
      socket.destroy()
      if (error === undefined) this.onTransportClosed()
      else if (local === true) this.abort(error)
      else this.onRemoteReset()
    })
    if (transport.status !== 'open') this.onTransportClosed()
  }

  sendData(data: Pieces): Sent {
    let sentBytes = 0
    let canSendMore = true
    // One write of all pieces.
    this.#socket.cork()
    for (const piece of data) {
      canSendMore = this.#socket.write(piece)
      sentBytes += piece.byteLength
    }
    this.#socket.uncork()
    return { sentBytes, canSendMore }
  }

  sendReset(error: Error): void {
    this.#socket.destroy()
    this.#transport.abort(error)
  }

  sendPause(): void {
    this.#socket.pause()
  }

  sendResume(): void {
    this.#socket.resume()
  }

  async close(options?: AbortOptions): Promise<void> {
    if (this.#socket.closed) return
    this.#socket.destroySoon()
    await once(this.#socket, 'close', options)
    await this.#transport.close(options)
  }

  /** Records are handed on together: all that one turn of the event loop brought. They are 16 KiB and less each. */
  #keep(record: Uint8Array): void {
    if (this.readStatus === 'closing' || this.readStatus === 'closed') return
    this.readBuffer.append(record)
    this.#handOn ??= setImmediate(() => {
      this.#deliver()
    })
  }

  #deliver(): void {
    clearImmediate(this.#handOn)
    this.#handOn = undefined
    if (this.readBuffer.byteLength > 0) this.dispatchReadBuffer()
  }
}
