/** A value that others may watch. */
export interface Signal<T> {
  get(): T
  set(value: T): void
  /** @returns a function that ends it */
  subscribe(listener: (value: T) => void): () => void
}

export function createSignal<T>(first: T): Signal<T> {
  let value = first
  const listeners = new Set<(value: T) => void>()
  return {
    get: () => value,
    set(next) {
      value = next
      for (const listener of listeners) listener(next)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
