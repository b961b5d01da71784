/** The network that the agents of a chaos run live on. */
import type { FaultKind } from './schedule.ts'

/** Where one PC is plugged in. */
export interface Spot {
  /** For its agent to listen on. */
  readonly address: string
  /** A command that runs the agent's in this place; empty: as it is. */
  readonly within: readonly string[]
  /** Pull the cable. */
  cut(): Promise<void>
  /** Make it a slow line, in both directions. */
  slow(): Promise<void>
  /** A good line again, whatever was done to it. */
  mend(): Promise<void>
}

export interface Ground {
  /** What it is, as the end of "the agents run …". */
  readonly text: string
  /** Faults that cannot be made here. */
  readonly lacks: readonly FaultKind[]
  plugIn(name: string): Promise<Spot>
  /** Leave nothing behind. Synchronous, for a process that exits. */
  clear(): void
}

const nothing = (): Promise<void> => Promise.resolve()

/** Without rights over the network: one address, and cables that cannot be pulled. */
export function loopback(why: string): Ground {
  return {
    text: `on this machine’s loopback, with cables that cannot be pulled (${why})`,
    lacks: ['cut', 'slow'],
    plugIn: () =>
      Promise.resolve({ address: '127.0.0.1', within: [], cut: nothing, slow: nothing, mend: nothing }),
    clear: () => undefined,
  }
}
