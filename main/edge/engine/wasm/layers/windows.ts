/** Where windows that slide over an axis begin. */

/** Places that lie before the first element: `same` pads as little as needed, the smaller half in front. */
export function paddingBefore(
  extent: number,
  outputs: number,
  { size, stride, padding }: { size: number; stride: number; padding: 'same' | 'valid' },
): number {
  if (padding === 'valid') return 0
  return Math.floor(Math.max(0, (outputs - 1) * stride + size - extent) / 2)
}
