/** Real swarms on loopback for the tests: agents, a job, and its certificates. */
import { createIdentity, type Identity } from '../../../main/edge/identity/identity.ts'
import { createMembership, issueCertificate } from '../../../main/edge/identity/certificate.ts'
import { createJobKey, type JobKey } from '../../../main/edge/identity/job-key.ts'
import { verifyJobRecord } from '../../../main/edge/identity/job-record.ts'
import { createSwarm, type JobLinks, type Swarm, type SwarmSettings } from '../../../main/edge/swarm/swarm.ts'
import type { LogLevel } from '../../../main/core/ports.ts'
import type { Certificate } from '../../../shared/messages/wire.ts'
import { hour } from '../../../shared/units.ts'
import type { LinksPool } from '../../contracts/links.ts'
import { realClock } from './real-clock.ts'

interface LogLine {
  readonly level: LogLevel
  readonly text: string
}
export interface Agent {
  readonly identity: Identity
  readonly swarm: Swarm
  readonly lines: LogLine[]
}

const loopback = { address: '127.0.0.1', port: 0 }

export async function startAgent(
  change: Partial<SwarmSettings> & { readonly identity?: Identity } = {},
): Promise<Agent> {
  const { identity = await createIdentity(), ...settings } = change
  const lines: LogLine[] = []
  const swarm = await createSwarm({
    privateKey: identity.privateKey,
    listen: loopback,
    localDiscovery: false,
    log: (level, text) => lines.push({ level, text }),
    verifyRecord: verifyJobRecord,
    clock: realClock,
    ...settings,
  })
  return { identity, swarm, lines }
}

export const certify = (key: JobKey, peer: string, role: Certificate['role'] = 'member'): Certificate =>
  issueCertificate(key, { peer, role, expiresAt: Date.now() + hour })

/** Open the links of a job with whatever certificate. */
export function enter(agent: Agent, key: JobKey, certificate: Certificate | null): JobLinks {
  const hosting = certificate?.role === 'host'
  return agent.swarm.openLinks({ ...createMembership(key.publicKey, Date.now), certificate, hosting })
}

/** A host and members who know the host's address and each other's. */
export async function openPool(participants: number): Promise<LinksPool & { agents: Agent[]; key: JobKey }> {
  const key = createJobKey()
  const agents = await Promise.all(Array.from({ length: participants }, () => startAgent()))
  const links = agents.map((agent, at) =>
    enter(agent, key, certify(key, agent.swarm.self, at === 0 ? 'host' : 'member')),
  )
  for (const one of links)
    for (const other of agents)
      if (other.swarm.self !== one.self) await one.learnAddresses(other.swarm.self, other.swarm.addresses())
  return {
    job: key.jobId,
    key,
    agents,
    links,
    fail: async (index) => {
      await agents[index]?.swarm.stop()
    },
    stop: async () => {
      await Promise.all(agents.map(({ swarm }) => swarm.stop()))
    },
  }
}
