/** Elements that cross the engine's border are copies, on backends that copy by themselves and those that do not. */
import { describe, expect, it } from 'vitest'
import { openBackend } from '../../../main/edge/engine/tfjs/backends.ts'
import { download, upload } from '../../../main/edge/engine/tfjs/host-tensors.ts'

describe('a tensor across the border', () => {
  it.each(['wasm', 'cpu'] as const)('shares no memory with its caller on %s', async (backend) => {
    await openBackend(backend)
    const given = Float32Array.of(1, 2, 3)
    const tensor = upload(given, [3])
    given.fill(9)
    const got = await download(tensor)
    expect([...got]).toEqual([1, 2, 3])
    got.fill(9)
    expect([...(await download(tensor))]).toEqual([1, 2, 3])
    tensor.dispose()
  })
})
