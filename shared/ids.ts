/** Names of things that cross borders. */
import { z } from 'zod'

/** A libp2p peer id in its text form, or a name in a pool file. */
export const peerId = z.string().min(1).max(128)
export type PeerId = string

/** sha256 of the job's public key, in hex. */
export const jobId = z.string().regex(/^[0-9a-f]{64}$/)
export type JobId = string

/** Grows with every new plan of a job; 0 before the first. */
export const planNumber = z.int().min(0).max(1_000_000_000)
