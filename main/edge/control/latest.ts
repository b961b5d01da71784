/** The newest of many values: readers skip what came while they were busy, so nothing queues up. */
export interface Latest<T> {
  set(value: T): void
  /** Readers get the last value if they have not seen it, and end. */
  end(): void
  /** The present value, if there is one, then every newer one that the reader has time for. */
  values(): AsyncIterable<T>
}

export function createLatest<T>(): Latest<T> {
  let value: { readonly it: T } | undefined
  let ended = false
  let change = Promise.withResolvers<undefined>()
  const wake = (): void => {
    change.resolve(undefined)
    change = Promise.withResolvers<undefined>()
  }
  return {
    set(next) {
      value = { it: next }
      wake()
    },
    end() {
      ended = true
      wake()
    },
    async *values() {
      let seen: { readonly it: T } | undefined
      for (;;) {
        if (value !== undefined && value !== seen) {
          seen = value
          yield value.it
        } else if (ended) return
        else await change.promise
      }
    },
  }
}
