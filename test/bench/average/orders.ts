/** What the bench of averaging asks of its members, which are processes of their own. */
import type { Certificate } from '../../../shared/messages/wire.ts'
import type { Bytes, Millis } from '../../../shared/units.ts'

/** Numbers come in columns of so many. */
export const rows = 1024

/** A small cluster that every member plays a part in: root of one with its left neighbour, leaf of one with its right. */
export interface Training {
  readonly activationBytes: Bytes
  /** K. */
  readonly inFlight: number
  /** Of a micro-batch at either end: a third of it forward, at the root. */
  readonly computeMs: Millis
}

/** Name, what goes in, what comes back. */
export interface Orders {
  /** Join the swarm. */
  open: { in: { address: string }; out: { peer: string; addresses: string[] } }
  /** Know the others, in ring order from the next member on. */
  enter: {
    in: { publicKey: string; certificate: Certificate; others: { peer: string; addresses: string[] }[] }
    out: null
  }
  /** Begin a plan with one ring of all members and so many numbers. */
  plan: { in: { number: number; elements: number; members: string[] }; out: null }
  /** Be ready for a round, and wait for its end. */
  round: {
    /** `trains`: the stage makes updates meanwhile. */
    in: { weight: number; trains: boolean }
    out: { startedMs: number; endedMs: number; sentBytes: Bytes; lineBytes: Bytes; cpuMs: Millis }
  }
  /** Of the numbers, to see that all have the same. */
  digest: { in: null; out: string }
  train: { in: Training; out: null }
  /** Micro-batches that came back until now. */
  trained: { in: null; out: { microBatches: number; atMs: number } }
  rest: { in: null; out: null }
}

export interface Order<N extends keyof Orders = keyof Orders> {
  readonly id: number
  readonly name: N
  readonly input: Orders[N]['in']
}
export type Answer = { readonly id: number } & ({ readonly output: unknown } | { readonly error: string })
