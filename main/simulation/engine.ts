/** An engine without numbers: its calls take the time that the profile says, one after the other. */
import { InvariantError } from '../../shared/errors.ts'
import type { LayerRange } from '../../shared/model/graph.ts'
import type { HostTensor } from '../../shared/tensor.ts'
import type { Millis } from '../../shared/units.ts'
import type { StageEngine, StateVector } from '../core/ports.ts'
import type { SimulationClock } from './clock.ts'
import type { Processors } from './shared-machine.ts'

export interface SimulatedEngineSettings {
  readonly clock: SimulationClock
  /** It computes on these, with others; absent: on its own. */
  readonly processors?: Processors | undefined
  /** Of one micro-batch, before chance. */
  readonly forwardMs: Millis
  readonly backwardMs: Millis
  /** Of any call that computes, beside that. */
  readonly callMs: Millis
  /** How much longer than that this time. */
  readonly drawFactor: () => number
  /** What goes from stage to stage; always the same. */
  readonly tensor: HostTensor
  readonly isRoot: boolean
  /** Numbers of a run of layers, as its ring is long. */
  readonly lengthOf: (layers: LayerRange) => number
  readonly onCall?: (call: EngineCall) => void
}

/** One thing the engine did. */
export interface EngineCall {
  readonly what: 'forward' | 'backward' | 'loss'
  readonly microBatch: number
  readonly beganMs: Millis
  readonly endedMs: Millis
}

const tally = { lossSum: 1, labels: 1, correct: 0, correctTop5: 0 }

export class SimulatedEngine implements StageEngine {
  readonly backend = 'simulated'
  readonly #settings: SimulatedEngineSettings
  #freeMs: Millis = 0
  /** What was asked for, where it shares its processors. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(settings: SimulatedEngineSettings) {
    this.#settings = settings
  }

  /** After everything asked for before. */
  #call<T>(duration: Millis, result: T, done?: (beganMs: Millis) => void): Promise<T> {
    const { clock, processors } = this.#settings
    if (processors !== undefined) return this.#onShared(processors, duration, [result, done])
    const began = Math.max(clock.now(), this.#freeMs)
    this.#freeMs = began + duration
    if (this.#freeMs <= clock.now()) return Promise.resolve(result)
    return new Promise((resolve) => {
      clock.at(this.#freeMs, () => {
        done?.(began)
        resolve(result)
      })
    })
  }

  async #onShared<T>(
    processors: Processors,
    duration: Millis,
    [result, done]: [T, ((beganMs: Millis) => void) | undefined],
  ): Promise<T> {
    const turn = this.#last.then(() => (duration === 0 ? undefined : processors.work(duration)))
    this.#last = turn
    const began = await turn
    if (began !== undefined) done?.(began)
    return result
  }

  #work<T>(what: EngineCall['what'], microBatch: number, [usual, result]: [Millis, T]): Promise<T> {
    const { clock, drawFactor, onCall } = this.#settings
    return this.#call(usual * drawFactor(), result, (beganMs) =>
      onCall?.({ what, microBatch, beganMs, endedMs: clock.now() }),
    )
  }

  #inputGradient(): HostTensor | undefined {
    return this.#settings.isRoot ? undefined : this.#settings.tensor
  }

  forward({ microBatch }: { microBatch: number }): Promise<HostTensor> {
    const { forwardMs, callMs, tensor } = this.#settings
    return this.#work('forward', microBatch, [forwardMs + callMs, tensor])
  }

  forwardLoss({ microBatch }: { microBatch: number }) {
    const { forwardMs, backwardMs, callMs } = this.#settings
    return this.#work('loss', microBatch, [
      forwardMs + backwardMs + callMs,
      { tally, inputGradient: this.#inputGradient() },
    ])
  }

  backward(microBatch: number): Promise<HostTensor | undefined> {
    const { backwardMs, callMs } = this.#settings
    return this.#work('backward', microBatch, [backwardMs + callMs, this.#inputGradient()])
  }

  readState(layers: LayerRange): Promise<StateVector> {
    return this.#call(0, { layers, values: new Float32Array(this.#settings.lengthOf(layers)) })
  }

  load = () => this.#call(0, undefined)
  discard = () => this.#call(0, undefined)
  writeState = () => this.#call(0, undefined)
  addToState = () => this.#call(0, undefined)
  writeOptimizer = () => this.#call(0, undefined)
  unload = () => this.#call(0, undefined)
  update = () => this.#call(this.#settings.callMs, { applied: true, gradientNorm: 1 })
  readOptimizer = () => this.#call(0, { updates: 0, moments: [] })
  memory = () => this.#call(0, { tensors: 0, bytes: 0, peakBytes: 0 })
  infer = () => Promise.reject(new InvariantError('a simulated engine judges nothing'))
  judge = () => Promise.reject(new InvariantError('a simulated engine judges nothing'))
}
