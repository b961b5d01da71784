/**
 * A convolution as the engine plans it: for every output pixel and tap, which pixel of the source it sees.
 *
 * Output (u, v) of an image sees source pixel (u·step + down, v·step + right) at each tap, and zeros beyond the edge.
 * The gradient by the source is the same with other taps.
 */
@unmanaged
export class ConvolutionPlan {
  /** Outputs of an image: U × V. */
  rows: i32
  columns: i32
  step: i32
  /** Source image: H × W, pixels `pixelStep` floats apart, of which `depth` channels are seen. */
  height: i32
  width: i32
  pixelStep: i32
  depth: i32
  /** Numbers of an output, which lie `outStep` apart. */
  filters: i32
  outStep: i32
  /** How weights lie: tap offset + channel · rowStep + filter · columnStep. */
  rowStep: i32
  columnStep: i32
  /** Address of as many zeros as a tile reads at once. */
  zeros: usize
  /** Followed by (down, right, offset of the weights in floats) for each. */
  taps: i32
}

const headBytes: usize = 13 * 4

export function tapDown(plan: ConvolutionPlan, tap: i32): i32 {
  return load<i32>(changetype<usize>(plan) + headBytes + <usize>tap * 12)
}

export function tapRight(plan: ConvolutionPlan, tap: i32): i32 {
  return load<i32>(changetype<usize>(plan) + headBytes + <usize>tap * 12, 4)
}

export function tapWeights(plan: ConvolutionPlan, tap: i32): i32 {
  return load<i32>(changetype<usize>(plan) + headBytes + <usize>tap * 12, 8)
}
