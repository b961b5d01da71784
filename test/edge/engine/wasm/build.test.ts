/** The committed binaries are what the sources say: same compiler, same bytes. */
import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { compileKernels, sharedKernels } from '../../../../main/edge/engine/wasm/build/compile.ts'

const generated = new URL('../../../../main/edge/engine/wasm/generated/', import.meta.url)

it.each([
  ['narrow', 8],
  ['wide', 16],
] as const)(
  'the committed %s kernels are those of the sources (npm run build:kernels)',
  async (name, width) => {
    const committed = await readFile(new URL(`${name}.wasm`, generated))
    expect(Buffer.from(await compileKernels(width)).equals(committed)).toBe(true)
  },
)

it('the committed numbers of the kernels are those that the sources give them', async () => {
  const committed: unknown = JSON.parse(await readFile(new URL('numbers.json', generated), 'utf8'))
  const numbers = (await sharedKernels()).map(({ name }, number) => [name, number])
  expect(committed).toEqual(Object.fromEntries(numbers))
})
