/**
 * How float32 tensors are written for the wire. A sender packs, a receiver unpacks to float32 of the same shape; the
 * bytes of a packed tensor follow from its shape and codec alone, so a receiver knows them before it takes memory.
 */
import { z } from 'zod'
import { InvalidInputError, InvariantError } from '../errors.ts'
import {
  type Dtype,
  type HostTensor,
  type PackedDtype,
  blockElements,
  byteLengthOf,
  elementCount,
  floatsOf,
} from '../tensor.ts'
import { bytesPerFloat } from '../units.ts'
import { decodeBfloat16, decodeFloat16, encodeBfloat16, encodeFloat16 } from './halves.ts'
import { decodeInt8Blocks, encodeInt8Blocks } from './int8-blocks.ts'

/** From exact to small. */
export const codec = z.enum(['fp32', 'fp16', 'bf16', 'int8'])
export type Codec = z.infer<typeof codec>

/** One codec for every border of a plan, or `auto`: the plan chooses for each. */
export const codecChoice = z.enum(['auto', ...codec.options])

interface Packing {
  readonly dtype: PackedDtype
  readonly encode: (values: Float32Array) => Uint8Array<ArrayBuffer>
  /** Fills `values` from the bytes of as many elements. */
  readonly decode: (bytes: Uint8Array, values: Float32Array) => void
}

const packings: Readonly<Record<Exclude<Codec, 'fp32'>, Packing>> = {
  fp16: { dtype: 'float16', encode: encodeFloat16, decode: decodeFloat16 },
  bf16: { dtype: 'bfloat16', encode: encodeBfloat16, decode: decodeBfloat16 },
  int8: { dtype: 'int8-blocks', encode: encodeInt8Blocks, decode: decodeInt8Blocks },
}

const packingOf = (dtype: Dtype | PackedDtype): Packing | undefined =>
  Object.values(packings).find((packing) => packing.dtype === dtype)

/** What a tensor in this codec says it is. */
export function dtypeOf(codec: Codec): 'float32' | PackedDtype {
  return codec === 'fp32' ? 'float32' : packings[codec].dtype
}

/** Bytes in this codec as a share of those in float32; of whole blocks. */
export function bytesShare(codec: Codec): number {
  return byteLengthOf(dtypeOf(codec), blockElements) / (bytesPerFloat * blockElements)
}

/**
 * A float32 tensor in a codec. fp32 gives the tensor itself, every other codec memory of its own.
 *
 * @throws InvariantError for a tensor that is not float32
 */
export function pack(tensor: HostTensor, codec: Codec): HostTensor {
  const values = floatsOf(tensor)
  if (codec === 'fp32') return tensor
  const { dtype, encode } = packings[codec]
  return { dtype, shape: tensor.shape, data: encode(values) }
}

/**
 * The float32 tensor that a packed one stands for; one that is not packed comes back as it is.
 *
 * @throws InvalidInputError when it has not the bytes of its shape
 */
export function unpack(tensor: HostTensor): HostTensor {
  const packing = packingOf(tensor.dtype)
  if (packing === undefined) return tensor
  const { dtype, shape, data } = tensor
  const elements = elementCount(shape)
  if (!(data instanceof Uint8Array) || data.length !== byteLengthOf(dtype, elements))
    throw new InvalidInputError(
      `a tensor of ${dtype} [${shape.join(', ')}] cannot have ${data.byteLength} bytes; send it again`,
    )
  const values = new Float32Array(elements)
  packing.decode(data, values)
  return { dtype: 'float32', shape, data: values }
}

/**
 * Values in a codec, and what it lost is made good the next time: c = x + e is written as Q(c), and e becomes c − Q(c).
 * So what was written in all differs from what was meant in all by the last residual alone.
 *
 * @param residual - e of the same values before, zeros at first; overwritten. Where c cannot be written (a NaN, an
 * infinity, too large for the codec) nothing is owed.
 * @throws InvariantError when the lengths differ
 */
export function packWithFeedback(values: Float32Array, codec: Codec, residual: Float32Array): HostTensor {
  if (values.length !== residual.length)
    throw new InvariantError(`${residual.length} residuals for ${values.length} values`)
  const wanted = new Float32Array(values.length)
  for (let at = 0; at < wanted.length; at++) wanted[at] = (values[at] ?? 0) + (residual[at] ?? 0)
  const packed = pack({ dtype: 'float32', shape: [wanted.length], data: wanted }, codec)
  const written = floatsOf(unpack(packed))
  for (let at = 0; at < wanted.length; at++) {
    const lost = (wanted[at] ?? 0) - (written[at] ?? 0)
    residual[at] = Number.isFinite(lost) ? lost : 0
  }
  return packed
}
