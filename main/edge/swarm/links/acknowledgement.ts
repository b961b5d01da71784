/**
 * What the receiver of a paced lane says of what came in, 8 bytes each:
 *
 *     bytes so far, modulo 2³² (u32, little-endian) | its clock, in tenths of a millisecond, modulo 2³² (u32)
 *
 * With the time of arrival the sender knows how long its own way took, but for a constant: what the acknowledgement
 * then waits for on its way back, behind the bulk that the receiver sends itself, tells nothing about our line.
 */
import { kibibyte, type Bytes, type Millis } from '../../../../shared/units.ts'

/** The receiver says so when this much more came in: some percent of the way back at the most, headers and all. */
export const acknowledgedBytes: Bytes = 8 * kibibyte
/** But not sooner again: on a fast line each would cost a packet and a turn of both event loops. */
const restMs: Millis = 4
const recordBytes: Bytes = 8
const tenths = 10

export interface Acknowledgement {
  /** Modulo 2³². */
  readonly bytes: Bytes
  /** By the receiver's clock, in tenths of a millisecond modulo 2³². */
  readonly atTenths: number
}

/** A clock as acknowledgements carry it. */
export const tenthsOf = (time: Millis): number => Math.floor(time * tenths) >>> 0

/** Milliseconds from one such time to another; right as long as they are less than 59 hours apart. */
export const millisBetween = (from: number, to: number): Millis => ((to - from) | 0) / tenths

export function encodeAcknowledgement({ bytes, atTenths }: Acknowledgement): Uint8Array {
  const record = new Uint8Array(recordBytes)
  const view = new DataView(record.buffer)
  view.setUint32(0, bytes >>> 0, true)
  view.setUint32(4, atTenths, true)
  return record
}

/** What time it is, and how to be called later. */
export interface Timer {
  readonly now: () => Millis
  readonly later: (deed: () => void, ms: Millis) => void
}

/** Counts what comes in and acknowledges it: once for all that came within some milliseconds. */
export function createAcknowledger(
  { now, later }: Timer,
  say: (record: Uint8Array) => void,
): (bytes: Bytes) => void {
  let came = 0
  let cameAtMs = 0
  let acknowledged = 0
  let saidAtMs = -Infinity
  let isDue = false
  const acknowledge = () => {
    isDue = false
    acknowledged = came
    saidAtMs = now()
    say(encodeAcknowledgement({ bytes: came, atTenths: tenthsOf(cameAtMs) }))
  }
  return (bytes) => {
    came += bytes
    cameAtMs = now()
    if (isDue || came - acknowledged < acknowledgedBytes) return
    isDue = true
    const waitMs = saidAtMs + restMs - cameAtMs
    if (waitMs > 0) later(acknowledge, waitMs)
    else queueMicrotask(acknowledge)
  }
}

/** Reads them from whatever pieces they come in; of several at once the newest is enough. */
export function createAcknowledgementReader(
  hear: (said: Acknowledgement) => void,
): (piece: Uint8Array) => void {
  let begun = new Uint8Array(0)
  return (piece) => {
    const seen = new Uint8Array(begun.length + piece.length)
    seen.set(begun)
    seen.set(piece, begun.length)
    const whole = seen.length - (seen.length % recordBytes)
    begun = seen.slice(whole)
    if (whole === 0) return
    const view = new DataView(seen.buffer, whole - recordBytes)
    hear({ bytes: view.getUint32(0, true), atTenths: view.getUint32(4, true) })
  }
}
