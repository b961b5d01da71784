/** The numbers of a ring: copied from the engine before a round, brought back after it. */
import type { LayerRange, ModelGraph } from '../../../shared/model/graph.ts'
import { layoutOfGraph, stateLayout } from '../../../shared/model/layout.ts'
import type { StageEngine } from '../ports.ts'

/** One run of layers within a ring's vector. */
export interface RingPart {
  readonly layers: LayerRange
  /** Of its first element in the ring's vector. */
  readonly offset: number
  readonly length: number
  /** Its first so many elements are trained; the rest is running state. */
  readonly trainedLength: number
}

/** Where each run of layers of a ring lies in the ring's vector. */
export function ringParts(graph: ModelGraph, ranges: readonly LayerRange[]): RingPart[] {
  const layouts = layoutOfGraph(graph)
  let offset = 0
  return ranges.map((layers) => {
    const { length, trainedLength } = stateLayout(layouts, layers)
    const part = { layers, offset, length, trainedLength }
    offset += length
    return part
  })
}

/** Elements of a ring's vector. */
export function ringLength(parts: readonly RingPart[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0)
}

/**
 * No NaN and no infinity: times 0 those alone are not 0. In four sums, or each addition waits for the one before; by index,
 * for an iterator of a typed array takes twenty times as long.
 */
export function allFinite(values: Float32Array): boolean {
  let [a, b, c, d] = [0, 0, 0, 0] as [number, number, number, number]
  for (let index = 0; index < values.length; index += 4) {
    a += (values[index] ?? 0) * 0
    b += (values[index + 1] ?? 0) * 0
    c += (values[index + 2] ?? 0) * 0
    d += (values[index + 3] ?? 0) * 0
  }
  return a + b + c + d === 0
}

/** Copy the ring's numbers. The reads are asked for at once, so that nothing comes between them. */
export async function readRing(engine: StageEngine, parts: readonly RingPart[]): Promise<Float32Array> {
  const states = await Promise.all(parts.map(({ layers }) => engine.readState(layers)))
  const [only] = states
  if (states.length === 1 && only !== undefined) return only.values
  const vector = new Float32Array(ringLength(parts))
  parts.forEach(({ offset }, index) => {
    vector.set(states[index]?.values ?? [], offset)
  })
  return vector
}

/** Write the mean itself: for a stage that stood still since its copy, so that all members end with the same bits. */
export async function writeRing(
  engine: StageEngine,
  parts: readonly RingPart[],
  mean: Float32Array,
): Promise<void> {
  await Promise.all(
    parts.map(({ layers, offset, length }) =>
      engine.writeState({ layers, values: mean.subarray(offset, offset + length) }),
    ),
  )
}

/** Elements between two rests: some milliseconds. */
const restEvery = 4_000_000

/**
 * Add mean − copy, so that updates made since the copy survive. Running state is left as it is: every forward moves it,
 * and a difference added to a running variance could make it negative. It is averaged whenever a stage stands still,
 * so at the latest in the last round.
 *
 * @param round.mean - becomes the difference
 * @param rest - lets others have their turn
 */
export async function addToRing(
  engine: StageEngine,
  parts: readonly RingPart[],
  round: { readonly mean: Float32Array; readonly copy: Float32Array; readonly rest: () => Promise<void> },
): Promise<void> {
  const { mean, copy, rest } = round
  for (const { offset, length, trainedLength } of parts) {
    const end = offset + trainedLength
    for (let from = offset; from < end; from += restEvery) {
      subtract(mean, copy, [from, Math.min(end, from + restEvery)])
      if (from + restEvery < end) await rest()
    }
    mean.fill(0, end, offset + length)
  }
  await Promise.all(
    parts.map(({ layers, offset, length }) =>
      engine.addToState({ layers, values: mean.subarray(offset, offset + length) }),
    ),
  )
}

function subtract(mean: Float32Array, copy: Float32Array, [from, to]: readonly [number, number]): void {
  for (let index = from; index < to; index++) mean[index] = (mean[index] ?? 0) - (copy[index] ?? 0)
}
