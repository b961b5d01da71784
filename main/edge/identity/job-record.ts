/** The entry of a job in the swarm's directory, signed so that nobody can lead a job's members astray. */
import type { JobRecord } from '../../../shared/invite.ts'
import { canonicalJson } from './canonical.ts'
import { jobIdOf, verifySignature, type JobKey } from './job-key.ts'

type Claim = Omit<JobRecord, 'signature'>

const signedText = ({ job, publicKey, name, host, addresses, sequence }: Claim): string =>
  canonicalJson({ job, publicKey, name, host, addresses, sequence })

export function signJobRecord(key: JobKey, claim: Omit<Claim, 'job' | 'publicKey'>): JobRecord {
  const full = { job: key.jobId, publicKey: key.publicKey, ...claim }
  return { ...full, signature: key.sign(signedText(full)) }
}

/** Whether the key whose hash is the record's job signed it. */
export function verifyJobRecord(record: JobRecord): boolean {
  return (
    record.job === jobIdOf(record.publicKey) &&
    verifySignature(record.publicKey, signedText(record), record.signature)
  )
}
