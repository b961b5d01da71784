/** Text: bytes are tokens, samples are windows that do not overlap. Legend: T window length. */
import { InvalidInputError } from '../../../../shared/errors.ts'
import type { ModelGraph } from '../../../../shared/model/graph.ts'
import { maskToken } from '../shards/masking.ts'
import { outputWidthOf } from '../suitability.ts'
import { openBytes } from './bytes.ts'

/**
 * Tokens that a text may use: of a masked-token model, all but the mask.
 * @throws InvalidInputError when the model takes no text
 */
export function tokensOf(graph: ModelGraph): { readonly length: number; readonly usable: number } {
  if (graph.input.type !== 'tokens')
    throw new InvalidInputError(`model "${graph.name}" takes ${graph.input.type}, not text`)
  const { length, vocabulary } = graph.input
  const usable = graph.task === 'masked-token' ? maskToken(vocabulary) : vocabulary
  return { length, usable: Math.min(usable, outputWidthOf(graph)) }
}

/** Every byte is a token that the model knows. @throws InvalidInputError naming the first that is not */
export function checkTokens(bytes: Uint8Array, usable: number, place: (index: number) => string): void {
  if (usable > 255) return
  const index = bytes.findIndex((byte) => byte >= usable)
  if (index >= 0)
    throw new InvalidInputError(
      `${place(index)} has the value ${bytes[index] ?? 0}, but the model knows only 0 to ${usable - 1}: ` +
        'give it a vocabulary of 256, or 257 with masks',
    )
}

/**
 * Windows of T bytes, each with the byte after it: `window` is [T + 1], valid until the next.
 * A rest that is shorter is left out.
 */
export async function* readWindows(
  path: string,
  { length, usable }: { readonly length: number; readonly usable: number },
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  let rest: Uint8Array = new Uint8Array(0)
  let restAt = 0
  for await (const chunk of openBytes(path, signal)) {
    const chunkAt = restAt + rest.length
    checkTokens(chunk, usable, (index) => `byte ${chunkAt + index} of "${path}"`)
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let position = 0
    for (; position + length < bytes.length; position += length)
      yield bytes.subarray(position, position + length + 1)
    rest = bytes.subarray(position)
    restAt += position
  }
}
