/** This agent's place in the swarm: its identity, and where it listens. */
import { join } from 'node:path'
import { z } from 'zod'
import { AlreadyInUseError } from '../../shared/errors.ts'
import type { Settings } from '../../shared/settings.ts'
import type { Log } from '../core/ports.ts'
import { openIdentity } from '../edge/identity/identity.ts'
import { verifyJobRecord } from '../edge/identity/job-record.ts'
import { createSwarm, type Swarm } from '../edge/swarm/swarm.ts'
import { realClock } from './clock.ts'
import { createKeptFile } from './kept-file.ts'

const portFile = z.object({ port: z.int().min(1).max(65_535) })

interface SwarmHome {
  readonly home: string
  readonly settings: Settings
  readonly log: Log
  readonly rejoin: boolean
}

/** Invites name a port: an agent that goes on with its job listens where it did before, if it can. @throws as `createSwarm` */
export async function openSwarm({ home, settings, log, rejoin }: SwarmHome): Promise<Swarm> {
  const { privateKey } = await openIdentity(join(home, 'identity.json'))
  const { address, port, localDiscovery } = settings.network
  const open = (port: number) =>
    createSwarm({
      ...{ privateKey, localDiscovery, log, verifyRecord: verifyJobRecord, clock: realClock },
      listen: { address, port },
      datastorePath: join(home, 'peers'),
    })
  if (port !== 0 || !rejoin) return open(port)
  const kept = createKeptFile(join(home, 'port.json'), portFile)
  const before = (await kept.read())?.port ?? 0
  const swarm = await open(before).catch((error: unknown) => {
    if (before !== 0 && error instanceof AlreadyInUseError) return open(0)
    throw error
  })
  // An address by way of another PC names that one's port.
  const own = swarm.addresses().find((address) => !address.includes('/p2p-circuit'))
  const [, now] = /\/tcp\/(\d+)/.exec(own ?? '') ?? []
  if (now !== undefined) await kept.write({ port: Number(now) }).catch(() => undefined)
  return swarm
}
