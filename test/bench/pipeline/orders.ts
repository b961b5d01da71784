/** What the bench of busy stages asks of its processes, one a stage. */
import type { Certificate } from '../../../shared/messages/wire.ts'

export interface KnownPeer {
  readonly peer: string
  readonly addresses: readonly string[]
}

/** Take a stage of a cluster; the last that is told so begins. */
export interface StageOrders {
  readonly publicKey: string
  readonly certificate: Certificate
  readonly stage: number
  /** In order, ourselves too. */
  readonly peers: readonly KnownPeer[]
}

export type StageOrder = { readonly take: StageOrders } | { readonly begin: true }
export type StageWord =
  | { readonly opened: KnownPeer }
  | { readonly ready: true }
  /** Of the time between the first update and the last, spent in the engine. */
  | { readonly busyShare: number; readonly msPerBatch: number }
