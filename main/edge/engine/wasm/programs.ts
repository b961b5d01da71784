/** The plans of a stage, one a purpose and size of micro-batch, made when first needed. */
import { elementCount } from '../../../../shared/tensor.ts'
import { planLayers } from './layers/plan-layers.ts'
import { type PlannedLoss, planLoss } from './losses.ts'
import type { Heap } from './memory/heap.ts'
import { type Compute, type Plan, type Wire, createPlan } from './plan.ts'
import type { StageShape } from './stage-shape.ts'

/** pass: forward and backward; loss: to the loss and back; infer and judge: the same in evaluation, no way back. */
export type Purpose = 'pass' | 'loss' | 'infer' | 'judge'

/** All that a purpose needs for micro-batches of one size. */
export interface Program {
  readonly plan: Plan
  readonly input: Wire
  readonly output: Wire
  readonly loss: PlannedLoss | undefined
  /** Where the output's gradient is written, for a pass. */
  readonly outputGradient: Wire | undefined
  /** Undefined at the root and in evaluation. */
  readonly inputGradient: Wire | undefined
}

export interface Programs {
  of(purpose: Purpose, batch: number): Program
  dispose(): void
}

/** Sizes differ by the last micro-batch of an epoch and by what evaluation asks for: few at a time. */
const mostKept = 12

export function createPrograms(shape: StageShape, heap: Heap, compute: Compute): Programs {
  const known = new Map<string, Program>()
  const forgetOldest = () => {
    const [oldest] = known
    if (oldest === undefined) return
    oldest[1].plan.dispose()
    known.delete(oldest[0])
  }
  return {
    of(purpose, batch) {
      const key = `${purpose} ${batch}`
      const program = known.get(key) ?? planProgram(shape, purpose, { batch, heap, ...compute })
      // Least recently used first.
      known.delete(key)
      if (known.size >= mostKept) forgetOldest()
      known.set(key, program)
      return program
    },
    dispose() {
      for (const { plan } of known.values()) plan.dispose()
      known.clear()
    },
  }
}

function planProgram(
  shape: StageShape,
  purpose: Purpose,
  setting: Compute & { batch: number; heap: Heap },
): Program {
  const training = purpose === 'pass' || purpose === 'loss'
  const plan = createPlan({ ...setting, training, layout: shape.layout })
  // A pass may be repeated from its input, so nothing computes in the input's place.
  const input: Wire = { ...plan.keep(setting.batch * elementCount(shape.inputShape)), free: false }
  const { y: output, back } = planLayers(plan, shape.layers, {
    x: input,
    shape: shape.inputShape,
    prefix: '',
  })
  const loss = planJudging(shape, purpose, { plan, output })
  const outputGradient = purpose === 'pass' ? plan.borrow(output.length) : undefined
  const dy = loss?.gradient ?? outputGradient
  const dx = dy && back(dy, !shape.isRoot)
  return { plan, input, output, loss, outputGradient, inputGradient: shape.isRoot ? undefined : dx }
}

/** The loss after the last layer, where the purpose wants one. */
function planJudging(
  { setup, outputShape }: StageShape,
  purpose: Purpose,
  { plan, output }: { plan: Plan; output: Wire },
): PlannedLoss | undefined {
  if (purpose !== 'loss' && purpose !== 'judge') return undefined
  const classes = outputShape.at(-1) ?? 1
  return planLoss(plan, setup.graph.loss, { wire: output, classes }, purpose === 'loss')
}
