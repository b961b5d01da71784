/** How each fault is done to a PC, and undone. */
import type { Pc } from './pc.ts'
import type { FaultKind } from './schedule.ts'

interface Deed {
  /** After the PC's name. */
  readonly said: string
  readonly does: (pc: Pc) => Promise<void>
  readonly over: string
  readonly undoes: (pc: Pc) => Promise<void>
}

const nothing = (): Promise<void> => Promise.resolve()

export const deeds: Readonly<Record<Exclude<FaultKind, 'join'>, Deed>> = {
  kill: {
    said: 'is killed (kill -9)',
    does: (pc) => pc.kill(),
    over: 'is started again',
    undoes: (pc) => pc.start(),
  },
  freeze: {
    said: 'freezes (SIGSTOP)',
    does: (pc) => {
      pc.freeze()
      return nothing()
    },
    over: 'goes on (SIGCONT)',
    undoes: (pc) => {
      pc.thaw()
      return nothing()
    },
  },
  cut: {
    said: 'loses its network: the cable is pulled',
    does: (pc) => pc.spot.cut(),
    over: 'has its cable back',
    undoes: (pc) => pc.spot.mend(),
  },
  slow: {
    said: 'has a slow line now (1 Mbit/s)',
    does: (pc) => pc.spot.slow(),
    over: 'has its good line back',
    undoes: (pc) => pc.spot.mend(),
  },
  pause: {
    said: 'is paused by its owner',
    does: async (pc) => {
      await pc.command('pause', {})
    },
    over: 'is resumed',
    undoes: async (pc) => {
      await pc.command('resume', {})
    },
  },
  leave: {
    said: 'leaves for good',
    does: async (pc) => {
      await pc.command('leave', {})
      await pc.kill()
    },
    over: '',
    undoes: nothing,
  },
}
