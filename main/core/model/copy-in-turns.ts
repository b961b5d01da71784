/** Copies of so many numbers that others must have their turn meanwhile. */

/** Lets others have their turn within long work. */
export type Rest = () => Promise<void>

/** 2 MiB: a millisecond or some, for the memory is new and every page of it has to be made first. */
const turnElements = 524_288

/** target[at..] = source */
export async function copyInTurns(
  target: Float32Array,
  source: Float32Array,
  at: number,
  rest: Rest,
): Promise<void> {
  for (let from = 0; from < source.length; from += turnElements) {
    target.set(source.subarray(from, from + turnElements), at + from)
    if (from + turnElements < source.length) await rest()
  }
}
