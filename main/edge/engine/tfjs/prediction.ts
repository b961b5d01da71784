/** Which weights a forward pass runs at: the newest, or those predicted some updates ahead. */
import type { Updater } from './update.ts'
import type { Weights, WeightVersion } from './weights.ts'

/** Predicted versions of the newest weights, shared by the micro-batches that want the same. */
export interface Prediction {
  /** The version for τ updates ahead. The caller holds it if it needs it for longer than this call. */
  at(ahead: number): WeightVersion
  /** Weights or optimizer changed: forget what was predicted. Micro-batches in flight keep theirs. */
  forget(): void
}

export function createPrediction(weights: Weights, updater: Updater): Prediction {
  /** The newest weights' predictions, each held once here. One at a time: τ rarely changes between two updates. */
  let cached: { readonly ahead: number; readonly version: WeightVersion } | undefined
  const forget = () => {
    if (cached !== undefined) weights.release(cached.version)
    cached = undefined
  }
  return {
    at(ahead) {
      if (ahead === 0) return weights.newest
      if (cached?.ahead === ahead) return cached.version
      forget()
      const version = updater.predict(ahead)
      if (version === undefined) return weights.newest
      cached = { ahead, version }
      return version
    },
    forget,
  }
}
