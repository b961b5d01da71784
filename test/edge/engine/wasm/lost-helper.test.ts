/** A helper that ends within a chunk of work is noticed: the engine fails, the process goes on. */
import { describe, expect, it } from 'vitest'
import { EngineDiedError } from '../../../../main/edge/engine/protocol.ts'
import { createHeap } from '../../../../main/edge/engine/wasm/memory/heap.ts'
import { createThreadPool } from '../../../../main/edge/engine/wasm/thread-pool.ts'

const length = 100_000

describe('a pool of threads', () => {
  it.each([
    ['throws', 'throwing', 30_000],
    ['is ended without a word', 'ending', 200],
  ])('fails once a helper %s within a chunk, and a new one works', async (_how, name, patienceMs) => {
    const heap = createHeap(0)
    const helper = new URL(`./helpers/${name}.child.ts`, import.meta.url)
    const pool = await createThreadPool(heap, 'narrow', { threads: 2, patienceMs, helper })
    const x = heap.allocate(length * 4).address
    heap.floats(x, length).fill(1)
    const double = (run = pool.run) => run('add', length, x, x, x)
    // The helper takes a chunk as soon as it sees one; the first runs may be over before.
    expect(() => {
      for (;;) {
        double()
        heap.floats(x, length).fill(1)
      }
    }).toThrow(EngineDiedError)
    expect(() => double()).toThrow(EngineDiedError)
    pool.stop()

    const next = await createThreadPool(heap, 'narrow', { threads: 2 })
    heap.floats(x, length).fill(1)
    double(next.run)
    expect(heap.floats(x, length).every((value) => value === 2)).toBe(true)
    next.stop()
  })
})
