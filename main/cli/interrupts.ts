/** Ctrl-C and its kin: the first asks for an orderly end, the second ends at once. */

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export interface Interrupts {
  /** What the first interrupt does. Replaced as a command gets further. */
  orderly(deed: () => void): void
  [Symbol.dispose](): void
}

/** Listen until disposed. `atOnce` must end the process's children without waiting. */
export function createInterrupts(deeds: { orderly: () => void; atOnce: () => void }): Interrupts {
  let { orderly } = deeds
  let heard = 0
  const hear = (): void => {
    heard += 1
    if (heard === 1) orderly()
    else deeds.atOnce()
  }
  for (const signal of signals) process.on(signal, hear)
  return {
    orderly(deed) {
      orderly = deed
    },
    [Symbol.dispose]() {
      for (const signal of signals) process.off(signal, hear)
    },
  }
}
