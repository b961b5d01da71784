/** Claims a chunk of the next work, as `kernels/share.ts` does, and leaves it undone. */
const closed = 0x7fffffffn

export function takeChunk(memory: WebAssembly.Memory, control: number): void {
  const ticket = new BigInt64Array(memory.buffer, control, 1)
  const chunks = new Int32Array(memory.buffer, control + 24, 1)
  for (;;) {
    const seen = Atomics.load(ticket, 0)
    if ((seen & closed) >= BigInt(Atomics.load(chunks, 0))) continue
    if (Atomics.compareExchange(ticket, 0, seen, seen + 1n) === seen) return
  }
}
