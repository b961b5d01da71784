/** One bell for every change of the agent's state. */

export interface Changes {
  readonly ring: () => void
  /** Returns its removal. */
  subscribe(listener: () => void): () => void
}

export function createChanges(): Changes {
  const listeners = new Set<() => void>()
  return {
    ring: () => {
      for (const listener of listeners) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
