/** Sliding windows over images on the heap: B samples of [H, W, C], one window of k×k×C for each of B·H'·W' places. */

/** Where the windows lie. Extents in pixels. */
export interface Windows {
  readonly batch: number
  readonly height: number
  readonly width: number
  readonly channels: number
  readonly outHeight: number
  readonly outWidth: number
  readonly kernelHeight: number
  readonly kernelWidth: number
  readonly strideHeight: number
  readonly strideWidth: number
  /** Rows of padding above and columns of padding left of the image. */
  readonly top: number
  readonly left: number
}

/** What tf.backend_util computes of a convolution or pooling. */
interface TfGeometry {
  readonly batchSize: number
  readonly inHeight: number
  readonly inWidth: number
  readonly inChannels: number
  readonly outHeight: number
  readonly outWidth: number
  readonly filterHeight: number
  readonly filterWidth: number
  readonly strideHeight: number
  readonly strideWidth: number
  readonly padInfo: { readonly top: number; readonly left: number }
}

export function windowsOf(info: TfGeometry): Windows {
  return {
    ...{ batch: info.batchSize, height: info.inHeight, width: info.inWidth, channels: info.inChannels },
    ...{ outHeight: info.outHeight, outWidth: info.outWidth },
    ...{ kernelHeight: info.filterHeight, kernelWidth: info.filterWidth },
    ...{ strideHeight: info.strideHeight, strideWidth: info.strideWidth },
    ...{ top: info.padInfo.top, left: info.padInfo.left },
  }
}

/** The number of windows. */
export const windowCount = (w: Windows): number => w.batch * w.outHeight * w.outWidth
/** Elements in a window. */
export const windowSize = (w: Windows): number => w.kernelHeight * w.kernelWidth * w.channels

/** One row of a window, pixel by pixel; `inImage` is the element in the image where it starts, outside included. */
type RowVisit = (row: { inImage: number; firstInside: number; endInside: number; inWindow: number }) => void

/**
 * Visits every row of the windows [from, to). `firstInside` and `endInside` say which of its pixels lie within
 * the image; for a row above or below it both are 0. Positions in elements, windows one after another.
 */
function eachRow(w: Windows, [from, to]: readonly [number, number], visit: RowVisit): void {
  const row = { inImage: 0, firstInside: 0, endInside: 0, inWindow: 0 }
  for (let place = from; place < to; place++) {
    const x = (place % w.outWidth) * w.strideWidth - w.left
    const line = Math.floor(place / w.outWidth)
    const y = (line % w.outHeight) * w.strideHeight - w.top
    const sample = Math.floor(line / w.outHeight)
    const first = Math.max(0, -x)
    const end = Math.max(first, Math.min(w.kernelWidth, w.width - x))
    for (let i = 0; i < w.kernelHeight; i++) {
      const inside = y + i >= 0 && y + i < w.height
      row.inImage = ((sample * w.height + y + i) * w.width + x) * w.channels
      row.firstInside = inside ? first : 0
      row.endInside = inside ? end : 0
      visit(row)
      row.inWindow += w.kernelWidth * w.channels
    }
  }
}

/** Copies the windows [from, to) to `out`, 0 outside the image. `image` and `out` are element indices of `floats`. */
export function gatherWindows(
  floats: Float32Array,
  w: Windows,
  range: readonly [number, number],
  { image, out }: { readonly image: number; readonly out: number },
): void {
  const length = w.kernelWidth * w.channels
  eachRow(w, range, ({ inImage, firstInside, endInside, inWindow }) => {
    const first = firstInside * w.channels
    const end = endInside * w.channels
    const [source, target] = [image + inImage, out + inWindow]
    for (let e = 0; e < first; e++) floats[target + e] = 0
    for (let e = first; e < end; e++) floats[target + e] = floats[source + e] ?? 0
    for (let e = end; e < length; e++) floats[target + e] = 0
  })
}

/** Adds the windows [from, to) at `windows` to the image: the transpose of `gatherWindows`. */
export function scatterWindows(
  floats: Float32Array,
  w: Windows,
  range: readonly [number, number],
  { image, windows }: { readonly image: number; readonly windows: number },
): void {
  eachRow(w, range, ({ inImage, firstInside, endInside, inWindow }) => {
    const [target, source] = [image + inImage, windows + inWindow]
    const end = endInside * w.channels
    for (let e = firstInside * w.channels; e < end; e++)
      floats[target + e] = (floats[target + e] ?? 0) + (floats[source + e] ?? 0)
  })
}
