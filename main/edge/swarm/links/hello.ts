/**
 * The first bytes on every stream: who speaks, for which job, in which lane, and how much came before.
 *
 *     dialer:    hello bytes (u32, little-endian) | hello, JSON | frames ...
 *     acceptor:  one answer byte | one byte for every keep-alive; in a paced lane acknowledgements
 *
 * A dial to a peer that will refuse us resolves all the same, so nothing counts as sent before the answer.
 */
import { z } from 'zod'
import { BadMessageError } from '../../../../shared/errors.ts'
import { jobId } from '../../../../shared/ids.ts'
import { certificate, type Traffic } from '../../../../shared/messages/wire.ts'

/** Streams between two peers; bulk never stands before control. Activations and gradients share one. */
export const laneNames = ['control', 'pipeline', 'parameters', 'data'] as const
export type LaneName = (typeof laneNames)[number]

const laneOfTraffic: Readonly<Record<Traffic, LaneName>> = {
  control: 'control',
  activations: 'pipeline',
  gradients: 'pipeline',
  parameters: 'parameters',
  data: 'data',
}

export function laneOf(traffic: Traffic): LaneName {
  return laneOfTraffic[traffic]
}

/** Who goes first where the line is short: 0 before 1 before 2. */
export type Rank = 0 | 1 | 2

/** A micro-batch late is training late; the rest has time. */
export function rankOf(lane: LaneName): Rank {
  if (lane === 'control') return 0
  return lane === 'pipeline' ? 1 : 2
}

/** Whether the acceptor acknowledges what comes in, so that the dialer keeps no more under way than the line carries. */
export function isPaced(lane: LaneName): boolean {
  return lane === 'parameters'
}

const hello = z.strictObject({
  hello: z.literal(2),
  job: jobId,
  certificate: certificate.nullable(),
  lane: z.enum(laneNames),
  /** Random, hex: one for as long as the dialer holds the acceptor to be the same living participant. */
  link: z.string().regex(/^[0-9a-f]{16}$/),
  /** Frames of this lane that the dialer sent over this link's earlier streams. */
  sequence: z.int().min(0).max(Number.MAX_SAFE_INTEGER),
})
export type Hello = z.infer<typeof hello>

/** The answer to the second of two agents with one identity; the first is kept. */
export const clonedIdentity = 'cloned-identity'

/** What the acceptor says to a hello. */
export const answers = {
  /** "Go on." */
  welcome: 1,
  /** "I take no part in that job, or no more." */
  'unknown-job': 2,
  /** "Messages of yours never came to me: begin anew." */
  'out-of-step': 3,
  /** "Somebody else lives under your identity." */
  [clonedIdentity]: 4,
} as const
export type Answer = keyof typeof answers

const lengthBytes = 4
const maxHelloBytes = 2048

export function encodeHello(message: Hello): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(message))
  const bytes = new Uint8Array(lengthBytes + json.length)
  new DataView(bytes.buffer).setUint32(0, json.length, true)
  bytes.set(json, lengthBytes)
  return bytes
}

function parseHello(json: Uint8Array): Hello {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(json))
  } catch {
    throw new BadMessageError('a stream began with a hello that is not JSON')
  }
  const parsed = hello.safeParse(value)
  if (!parsed.success) throw new BadMessageError('a stream began with a hello of another version')
  return parsed.data
}

export interface HelloReader {
  /** @returns the hello and the bytes after it, once it is whole @throws BadMessageError */
  push(piece: Uint8Array): { readonly hello: Hello; readonly rest: Uint8Array } | undefined
}

/** Read a hello from whatever pieces it comes in. */
export function createHelloReader(): HelloReader {
  let seen = new Uint8Array(0)
  return {
    push(piece) {
      const room = lengthBytes + maxHelloBytes - seen.length
      const grown = new Uint8Array(seen.length + Math.min(room, piece.length))
      grown.set(seen)
      grown.set(piece.subarray(0, room), seen.length)
      const begun = seen.length
      seen = grown
      if (seen.length < lengthBytes) return undefined
      const length = new DataView(seen.buffer).getUint32(0, true)
      if (length === 0 || length > maxHelloBytes)
        throw new BadMessageError(`a stream began with a hello of ${length} bytes`)
      const end = lengthBytes + length
      if (seen.length < end) return undefined
      return { hello: parseHello(seen.subarray(lengthBytes, end)), rest: piece.subarray(end - begun) }
    },
  }
}

/** @returns undefined for a byte that is no answer of this version */
export function answerOf(byte: number): Answer | undefined {
  return (Object.keys(answers) as Answer[]).find((answer) => answers[answer] === byte)
}
