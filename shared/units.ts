/** Units, so that no number in the project is bare. A type alias is a label for readers, not a check. */

/** A count of bytes. */
export type Bytes = number
/** Bytes a second. */
export type BytesPerSecond = number
/** Milliseconds. */
export type Millis = number
/** Seconds. */
export type Seconds = number
/** Floating-point operations; a multiply-add counts as two. */
export type Flops = number
/** Floating-point operations a second. */
export type FlopsPerSecond = number

export const kibibyte: Bytes = 1024
export const mebibyte: Bytes = 1024 * kibibyte
export const gibibyte: Bytes = 1024 * mebibyte

export const second: Millis = 1000
export const minute: Millis = 60 * second
export const hour: Millis = 60 * minute

/** Bytes in one float32 element: parameters, gradients and activations on every engine. */
export const bytesPerFloat: Bytes = 4
