/** The agent's control socket: commands come down, state goes up. */
import { once } from 'node:events'
import { chmod, mkdir, rm } from 'node:fs/promises'
import { createConnection, createServer } from 'node:net'
import type { Server } from 'node:net'
import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { AlreadyInUseError } from '../../../shared/errors.ts'
import type { Snapshot } from '../../../shared/messages/control.ts'
import { second } from '../../../shared/units.ts'
import { controlAddress, prepareSocketFolder } from './address.ts'
import type { ControlAddress } from './address.ts'
import { removeCredentials, writeCredentials } from './credentials.ts'
import { lineOf, serveFace } from './face-connection.ts'
import type { FaceConnection } from './face-connection.ts'
import type { CommandHandlers } from './face-lines.ts'
import { createPace, machineClock } from './pace.ts'
import type { PaceClock } from './pace.ts'

/** At most ten snapshots a second: more than an eye follows, and little work. */
const snapshotGapMs = second / 10

export interface ControlServerPorts {
  /** The agent's folder; made if it is not there, for this user only. */
  readonly home: string
  readonly handlers: CommandHandlers
  /** The state now. */
  snapshot(): Snapshot
  /** Calls the listener after every change of the state. Returns its removal. */
  onChange(listener: () => void): () => void
  /** Paces the snapshots; the machine's clock if absent. */
  readonly clock?: PaceClock
}

export interface ControlServer {
  /** Path of the socket, or name of the pipe. */
  readonly socket: string
  /** Answers that were written still reach their faces. The home holds no socket and no token afterwards. */
  close(): Promise<void>
}

/**
 * Listen for faces of this user.
 * @throws AlreadyInUseError when another agent answers on this home
 */
export async function createControlServer(ports: ControlServerPorts): Promise<ControlServer> {
  const home = resolve(ports.home)
  await mkdir(home, { recursive: true, mode: 0o700 })
  const address = controlAddress(home, {
    platform: process.platform,
    temporaryFolder: tmpdir(),
    user: process.getuid?.() ?? 0,
  })
  await prepareSocketFolder(address)
  const server = createServer()
  await listen(server, address, home)
  const { token } = await writeCredentials(home, address.path)

  const faces = new Set<FaceConnection>()
  const snapshotLine = (): string => lineOf({ type: 'snapshot', snapshot: ports.snapshot() })
  server.on('connection', (socket) => {
    const face = serveFace(socket, { token, handlers: ports.handlers, snapshotLine }, () => {
      faces.delete(face)
    })
    faces.add(face)
  })
  const showAll = (): void => {
    if (faces.size === 0) return
    const line = snapshotLine()
    for (const face of faces) face.offerSnapshot(line)
  }
  const pace = createPace(ports.clock ?? machineClock, { gapMs: snapshotGapMs, deed: showAll })
  const stopListening = ports.onChange(() => {
    pace.request()
  })
  return {
    socket: address.path,
    async close() {
      stopListening()
      pace.stop()
      const closed = once(server, 'close')
      server.close()
      for (const face of faces) face.end()
      await closed
      await removeCredentials(home)
    },
  }
}

async function listen(server: Server, address: ControlAddress, home: string): Promise<void> {
  try {
    await listenOnce(server, address)
  } catch (thrown) {
    if (!isAddressInUse(thrown)) throw thrown
    if (address.kind === 'pipe' || (await isAnswered(address.path))) {
      throw new AlreadyInUseError(`an agent already runs on ${home}; stop it or choose another --home`)
    }
    // An agent that was killed left its socket behind.
    await rm(address.path, { force: true })
    await listenOnce(server, address)
  }
}

async function listenOnce(server: Server, address: ControlAddress): Promise<void> {
  server.listen(address.path)
  await once(server, 'listening')
  // Between the two lines others might connect; without the token they get nowhere.
  if (address.kind !== 'pipe') await chmod(address.path, 0o600)
}

const isAddressInUse = (thrown: unknown): boolean =>
  thrown instanceof Error && 'code' in thrown && thrown.code === 'EADDRINUSE'

async function isAnswered(path: string): Promise<boolean> {
  const probe = createConnection(path)
  try {
    await once(probe, 'connect')
    return true
  } catch {
    return false
  } finally {
    probe.destroy()
  }
}
