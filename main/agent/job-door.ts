/** Who may come into a job that we host, and the proof of it. */
import type { Certificate, Refusal } from '../../shared/messages/wire.ts'
import { hour } from '../../shared/units.ts'
import { issueCertificate } from '../edge/identity/certificate.ts'
import { createInviteSecret, type JobKey } from '../edge/identity/job-key.ts'
import type { HostedJobFile } from '../edge/store/hosted-runs.ts'

/** Longer than any run of today; a member's certificate does not outlive it. */
const certificateLifeMs = 90 * 24 * hour

type Secrets = HostedJobFile['secrets']

interface Door {
  readonly issue: (peer: string, role: Certificate['role']) => Certificate
  /** One more invite's secret, and until when it opens the job. */
  readonly open: () => { readonly secret: string; readonly expiresAt: number }
  /** Undefined when the secret opens the job. */
  readonly checkSecret: (secret: string) => Refusal | undefined
}

/** @param keep - the secrets that open the job changed */
export function createDoor(
  key: JobKey,
  { gathering, secrets: kept }: Pick<HostedJobFile, 'gathering' | 'secrets'>,
  keep: (secrets: Secrets) => void,
): Door {
  const secrets = new Map<string, number>(kept)
  return {
    issue: (peer, role) => issueCertificate(key, { peer, role, expiresAt: Date.now() + certificateLifeMs }),
    open() {
      const secret = createInviteSecret()
      // Whole milliseconds, as an invite writes them.
      const expiresAt = Date.now() + Math.round(gathering.inviteHours * hour)
      secrets.set(secret, expiresAt)
      keep([...secrets])
      return { secret, expiresAt }
    },
    checkSecret(shown: string): Refusal | undefined {
      const openUntil = secrets.get(shown)
      if (openUntil === undefined) return 'wrong-secret'
      return Date.now() > openUntil ? 'invite-expired' : undefined
    },
  }
}
