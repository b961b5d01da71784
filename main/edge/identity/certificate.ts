/** A host's word that a peer belongs to its job, and how everyone checks it. */
import type { JobId, PeerId } from '../../../shared/ids.ts'
import type { Certificate } from '../../../shared/messages/wire.ts'
import type { Millis } from '../../../shared/units.ts'
import type { Sender } from '../../core/ports.ts'
import { canonicalJson } from './canonical.ts'
import { jobIdOf, verifySignature, type JobKey } from './job-key.ts'

type Claim = Omit<Certificate, 'signature'>

const signedText = ({ job, peer, role, expiresAt }: Claim): string =>
  canonicalJson({ job, peer, role, expiresAt })

export function issueCertificate(
  key: JobKey,
  claim: { readonly peer: PeerId; readonly role: Certificate['role']; readonly expiresAt: Millis },
): Certificate {
  const full = { job: key.jobId, peer: claim.peer, role: claim.role, expiresAt: claim.expiresAt }
  return { ...full, signature: key.sign(signedText(full)) }
}

export type Verdict = 'valid' | 'other-job' | 'other-peer' | 'expired' | 'forged'

/** What a certificate is worth that `peer` shows, for the job of `publicKey`. */
export function verifyCertificate(
  shown: Certificate,
  publicKey: string,
  peer: PeerId,
  nowMs: Millis,
): Verdict {
  if (shown.job !== jobIdOf(publicKey)) return 'other-job'
  if (shown.peer !== peer) return 'other-peer'
  if (shown.expiresAt <= nowMs) return 'expired'
  return verifySignature(publicKey, signedText(shown), shown.signature) ? 'valid' : 'forged'
}

/** A job that this agent takes part in, as `createSwarm`'s `openLinks` wants it. */
export interface JobMembership {
  readonly job: JobId
  readonly standingOf: (shown: Certificate | null, peer: PeerId) => Sender['standing']
}

/** Judge the certificates of a job's peers. */
export function createMembership(publicKey: string, now: () => Millis): JobMembership {
  return {
    job: jobIdOf(publicKey),
    standingOf: (shown, peer) =>
      shown !== null && verifyCertificate(shown, publicKey, peer, now()) === 'valid'
        ? shown.role
        : 'stranger',
  }
}
