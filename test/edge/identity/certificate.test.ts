/** Only the holder of a job's key can say who belongs to it, and for no other peer, job or time. */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../../main/edge/identity/canonical.ts'
import {
  createMembership,
  issueCertificate,
  verifyCertificate,
} from '../../../main/edge/identity/certificate.ts'
import { createInviteSecret, createJobKey, jobIdOf } from '../../../main/edge/identity/job-key.ts'
import { signJobRecord, verifyJobRecord } from '../../../main/edge/identity/job-record.ts'
import { jobRecord } from '../../../shared/invite.ts'
import { certificate } from '../../../shared/messages/wire.ts'

const key = createJobKey()
const issued = issueCertificate(key, { peer: 'anna', role: 'member', expiresAt: 1000 })
const verdict = (change: Partial<typeof issued>, peer = 'anna', nowMs = 999) =>
  verifyCertificate({ ...issued, ...change }, key.publicKey, peer, nowMs)

describe('a job key', () => {
  it('names its job by the hash of its public part', () => {
    expect(key.jobId).toBe(createHash('sha256').update(Buffer.from(key.publicKey, 'hex')).digest('hex'))
    expect(jobIdOf(key.publicKey)).toBe(key.jobId)
  })

  it('comes with secrets that nobody guesses', () => {
    expect(createInviteSecret()).toMatch(/^[0-9a-f]{32}$/)
    expect(createInviteSecret()).not.toBe(createInviteSecret())
  })
})

describe('a certificate', () => {
  it('is valid for its peer, its job and its time', () => {
    expect(certificate.safeParse(issued).success).toBe(true)
    expect(verdict({})).toBe('valid')
  })

  it('is worth nothing for anyone or anything else', () => {
    const stranger = createJobKey()
    expect(verdict({}, 'ben')).toBe('other-peer')
    expect(verdict({}, 'anna', 1000)).toBe('expired')
    expect(verdict({ peer: 'ben' }, 'ben')).toBe('forged')
    expect(verdict({ role: 'host' })).toBe('forged')
    expect(verdict({ expiresAt: 2000 })).toBe('forged')
    expect(verdict({ signature: '00'.repeat(64) })).toBe('forged')
    expect(verdict({ job: stranger.jobId })).toBe('other-job')
    const forged = issueCertificate(stranger, { peer: 'anna', role: 'host', expiresAt: 1000 })
    expect(verdict({ ...forged, job: key.jobId })).toBe('forged')
  })

  it('decides the standing of who shows it', () => {
    let now = 0
    const { job, standingOf } = createMembership(key.publicKey, () => now)
    const host = issueCertificate(key, { peer: 'hanna', role: 'host', expiresAt: 1000 })
    expect(job).toBe(key.jobId)
    expect([standingOf(host, 'hanna'), standingOf(issued, 'anna'), standingOf(issued, 'ben')]).toEqual([
      'host',
      'member',
      'stranger',
    ])
    expect(standingOf(null, 'anna')).toBe('stranger')
    now = 1000
    expect(standingOf(host, 'hanna')).toBe('stranger')
  })
})

describe('a job record', () => {
  const claim = { name: 'digits', host: 'hanna', addresses: ['/ip4/10.0.0.1/tcp/1'], sequence: 4 }
  const record = signJobRecord(key, claim)

  it('is signed by the key whose hash is the job', () => {
    expect(jobRecord.parse(record)).toEqual({
      ...claim,
      job: key.jobId,
      publicKey: key.publicKey,
      signature: record.signature,
    })
    expect(verifyJobRecord(record)).toBe(true)
  })

  it('does not survive any change', () => {
    const other = createJobKey()
    const changes = [
      { name: 'letters' },
      { host: 'mallory' },
      { addresses: [] },
      { sequence: 5 },
      { job: other.jobId },
      { publicKey: other.publicKey },
      { publicKey: other.publicKey, job: other.jobId },
    ]
    for (const change of changes) expect(verifyJobRecord({ ...record, ...change })).toBe(false)
  })
})

describe('canonical JSON', () => {
  it('is the same text for the same content, whatever its order', () => {
    const text = '{"a":[1,"ü",null],"b":{"c":true,"d":"\\n"}}'
    expect(canonicalJson({ b: { d: '\n', c: true }, a: [1, 'ü', null] })).toBe(text)
    expect(canonicalJson({ a: [1, 'ü', null], b: { c: true, d: '\n' } })).toBe(text)
  })
})
