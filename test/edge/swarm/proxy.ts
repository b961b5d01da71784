/** A TCP relay in front of an agent, so that a test can cut the cable without touching either end. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export interface Cable {
  /** The agent's address, through the cable. */
  readonly address: string
  /** Break every connection; new ones go through. */
  cut(): void
  /** Bytes that came through towards the agent. */
  passed(): number
  stop(): Promise<void>
}

export async function layCable(address: string): Promise<Cable> {
  const [, host = '', port = ''] = /^\/ip4\/([^/]+)\/tcp\/(\d+)/.exec(address) ?? []
  const sockets = new Set<Socket>()
  let passed = 0
  const server = createServer((near) => {
    const far = connect(Number(port), host)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        near.destroy()
        far.destroy()
        sockets.delete(socket)
      })
    }
    near.on('data', (data) => (passed += data.length))
    near.pipe(far)
    far.pipe(near)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const own = (server.address() as AddressInfo).port
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    address: address.replace(`/tcp/${port}/`, `/tcp/${own}/`),
    cut,
    passed: () => passed,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve()
        })
        cut()
      }),
  }
}
