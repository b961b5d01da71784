/**
 * A plan of the work on one size of micro-batch: what each layer computes where, found once and run many times.
 *
 * Layers are planned in order and say what their forward pass does; then, in reverse, what their backward pass does.
 * A tensor's place is an offset in a region, so that a plan serves every slot and every version of the weights.
 * Nothing is allocated within a run: a slot holds all that the backward pass needs, the workspace what lives within one.
 */
import { InvariantError } from '../../../../shared/errors.ts'
import { bytesPerFloat } from '../../../../shared/units.ts'
import type { StateLayout } from '../../../../shared/model/layout.ts'
import type { KernelName } from './kernels.ts'
import { createFreeList } from './memory/free-list.ts'
import type { Block, Heap } from './memory/heap.ts'

/** slot: of a micro-batch; work: of one pass; weights: of a version; sums: gathered gradients; running: statistics. */
export type Region = 'slot' | 'work' | 'weights' | 'sums' | 'running'

/** Where something lies. Offset in bytes. */
export interface Place {
  readonly region: Region
  readonly offset: number
}

/** A tensor of the plan. */
export interface Wire extends Place {
  /** Floats, the micro-batch axis included. */
  readonly length: number
  /** Nobody else reads it later: the next may compute in its place, and gives it back. */
  readonly free: boolean
}

/** What a pass is run with: where its regions begin, and chance. */
export type Bases = Readonly<Record<Region, number>> & { readonly dropoutSeed: number }

/** Address of a place in this run. */
export type Address = (place: Place) => number

/** One thing to do in a pass. */
export type Step = (address: Address, bases: Bases) => void

/** Run a kernel over [0, units) of its work; several threads may share it. */
export type RunKernel = (name: KernelName, units: number, ...given: readonly number[]) => number

/** Who computes. */
export interface Compute {
  readonly run: RunKernel
  /** Kernels of so many threads at once. */
  readonly threads: number
}

/** What layers plan with. */
export interface Plan extends Compute {
  readonly batch: number
  readonly training: boolean
  readonly heap: Heap
  /** Of the forward pass, and what follows it once a micro-batch (running statistics). */
  readonly forward: Step[]
  readonly settle: Step[]
  readonly backward: Step[]
  /** So many floats in the slot. */
  keep(length: number): Wire
  /** The same in the workspace, until `done`. */
  borrow(length: number): Wire
  /** The last use of a wire: give it back if it is the user's to give. */
  done(wire: Wire): void
  /** Evaluation keeps nothing: give back all that was kept since `kept` was looked at, but these. */
  forget(since: ReadonlySet<Wire>, but: readonly Place[]): void
  kept(): ReadonlySet<Wire>
  /** Weights or running state by name. */
  parameter(name: string): Place
  /** Where the gradient by a weight is added up. */
  gradient(name: string): Place
  /** Whole numbers that a kernel reads; they live as long as the plan. @returns their address */
  describe(numbers: readonly number[]): number
  /**
   * So many floats for each thread that helps, until a kernel ends: the same for all who ask for no more. Not counted,
   * as what helpers pack is not: how many there are is no matter of the budget that a plan was made for.
   * @returns its address; 0 where nobody helps
   */
  helpersRoom(length: number): number
  readonly slotBytes: number
  readonly workBytes: number
  /** Free what describes the work. */
  dispose(): void
}

/** What a plan is made for. */
export interface PlanSetting extends Compute {
  readonly batch: number
  readonly training: boolean
  readonly heap: Heap
  readonly layout: StateLayout
}

export function createPlan({ layout, ...setting }: PlanSetting): Plan {
  const [slot, work] = [createFreeList(), createFreeList()]
  const live = new Set<Wire>()
  const described: Block[] = []
  const places = placesOf(layout)
  const bytesOf = ({ length }: Wire) => length * bytesPerFloat
  const placeOf = (name: string, regions: readonly Region[]): Place => {
    const place = places.get(name)
    if (place === undefined || !regions.includes(place.region))
      throw new InvariantError(`the stage holds no ${name}`)
    return place
  }
  return {
    ...setting,
    forward: [],
    settle: [],
    backward: [],
    keep(length) {
      const wire: Wire = { region: 'slot', offset: slot.take(length * bytesPerFloat), length, free: true }
      live.add(wire)
      return wire
    },
    borrow(length) {
      return { region: 'work', offset: work.take(length * bytesPerFloat), length, free: true }
    },
    done(wire) {
      if (wire.free && wire.region === 'work') work.give(wire.offset, bytesOf(wire))
    },
    forget(since, but) {
      for (const wire of live) {
        if (since.has(wire) || but.some((place) => samePlace(place, wire))) continue
        live.delete(wire)
        slot.give(wire.offset, bytesOf(wire))
      }
    },
    kept: () => new Set(live),
    parameter: (name) => placeOf(name, ['weights', 'running']),
    gradient: (name) => ({ ...placeOf(name, ['weights']), region: 'sums' }),
    describe(numbers) {
      const block = setting.heap.allocateUncounted(numbers.length * 4)
      setting.heap.ints(block.address, numbers.length).set(numbers)
      described.push(block)
      return block.address
    },
    helpersRoom: createHelpersRoom(setting, described),
    get slotBytes() {
      return slot.top
    },
    get workBytes() {
      return work.top
    },
    dispose() {
      for (const block of described.splice(0)) setting.heap.freeUncounted(block)
    },
  }
}

/** What grows beyond the room there is gets a new one, and the old stays for whom it was given to. */
function createHelpersRoom(
  { heap, threads }: Pick<PlanSetting, 'heap' | 'threads'>,
  described: Block[],
): (length: number) => number {
  let room: Block | undefined
  return (length) => {
    const bytes = (threads - 1) * length * bytesPerFloat
    if (bytes === 0) return 0
    if (room === undefined || room.bytes < bytes) {
      room = heap.allocateUncounted(bytes)
      described.push(room)
    }
    return room.address
  }
}

export const samePlace = (a: Place, b: Place): boolean => a.region === b.region && a.offset === b.offset

/** Where each parameter lies. */
function placesOf(layout: StateLayout): ReadonlyMap<string, Place> {
  const trained = layout.trained.map(({ name, offset }) => {
    return [name, { region: 'weights', offset: offset * bytesPerFloat }] as const
  })
  const untrained = layout.untrained.map(({ name, offset }) => {
    return [name, { region: 'running', offset: (offset - layout.trainedLength) * bytesPerFloat }] as const
  })
  return new Map<string, Place>([...trained, ...untrained])
}

/** Do all steps of a pass. */
export function runSteps(steps: readonly Step[], bases: Bases): void {
  const address: Address = ({ region, offset }) => bases[region] + offset
  for (const step of steps) step(address, bases)
}
