/** Tensors that come from and go to other PCs: read and written in the thread that computes, off the event loop. */
import { pack, unpack } from '../../../shared/codec/codec.ts'
import type { StageEngine } from '../../core/ports.ts'

/** An engine that knows float32 alone, as one that knows every codec. Calls keep the order in which they were made. */
export function withCodecs<E extends StageEngine>(engine: E): E {
  return {
    ...engine,
    forward: async (request) =>
      pack(await engine.forward({ ...request, input: unpack(request.input) }), request.codec ?? 'fp32'),
    async forwardLoss(request) {
      const { tally, inputGradient } = await engine.forwardLoss({ ...request, input: unpack(request.input) })
      return { tally, inputGradient: inputGradient && pack(inputGradient, request.codec ?? 'fp32') }
    },
    async backward(microBatch, gradient, codec = 'fp32') {
      const inputGradient = await engine.backward(microBatch, unpack(gradient))
      return inputGradient && pack(inputGradient, codec)
    },
    infer: async (input) => engine.infer(unpack(input)),
    judge: async (input, labels) => engine.judge(unpack(input), labels),
  }
}
