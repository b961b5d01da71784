/** Contract of `StageEngine`: it reads and writes the codecs of the wire, and computes with float32. */
import { describe, expect, it } from 'vitest'
import { codec, dtypeOf, pack, unpack } from '../../shared/codec/codec.ts'
import { floatsOf } from '../../shared/tensor.ts'
import { type Engines, begin, microBatchOf, setupOf, transformer } from './stage-engine-models.ts'

export function codecSentences(engines: Engines): void {
  describe('with codecs at its borders', () => {
    it.each(codec.options)(
      'takes what %s made of a tensor for what it stands for, and gives it back in it',
      async (name) => {
        const [root, middle, leaf] = engines()
        const count = transformer.layers.length
        await begin(root, setupOf(transformer, { layers: [0, 2] }))
        await begin(middle, setupOf(transformer, { layers: [2, 4] }))
        await begin(leaf, setupOf(transformer, { layers: [4, count] }))
        const { input, labels } = microBatchOf(transformer, 1)
        const toMiddle = await root.forward({ microBatch: 0, input, predictUpdates: 0, codec: name })
        expect(toMiddle.dtype).toBe(dtypeOf(name))

        const plain = await middle.forward({ microBatch: 0, input: unpack(toMiddle), predictUpdates: 0 })
        const toLeaf = await middle.forward({
          microBatch: 1,
          input: toMiddle,
          predictUpdates: 0,
          codec: name,
        })
        expect([plain.dtype, toLeaf]).toEqual(['float32', pack(plain, name)])
        expect(await middle.infer(toMiddle)).toEqual(await middle.infer(unpack(toMiddle)))

        const judge = (microBatch: number, given = toLeaf) => ({
          microBatch,
          input: given,
          labels,
          predictUpdates: 0,
        })
        const exact = await leaf.forwardLoss(judge(0, unpack(toLeaf)))
        const coded = await leaf.forwardLoss({ ...judge(1), codec: name })
        expect(coded).toEqual({ tally: exact.tally, inputGradient: pack(exact.inputGradient!, name) })
        expect(await leaf.judge(toLeaf, labels)).toEqual(await leaf.judge(unpack(toLeaf), labels))

        const back = await middle.backward(0, unpack(coded.inputGradient!))
        expect(await middle.backward(1, coded.inputGradient!, name)).toEqual(pack(back!, name))
        expect(floatsOf(back!).some((value) => value !== 0)).toBe(true)
        expect(await root.backward(0, pack(back!, name), name)).toBeUndefined()
      },
    )

    it('refuses a tensor whose bytes are not those of its shape', async () => {
      const [, middle] = engines()
      await begin(middle, setupOf(transformer, { layers: [2, 4] }))
      const wrong = { dtype: 'int8-blocks', shape: [3, 4, 4, 4], data: new Uint8Array(7) } as const
      await expect(middle.infer(wrong)).rejects.toMatchObject({ kind: 'bad-input' })
    })
  })
}
