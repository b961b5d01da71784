/** Looks who is there, every few seconds of a job. */
import { second } from '../../../../shared/units.ts'
import type { HostState } from './host-state.ts'

const everyMs = 5 * second

/** Until the signal. Never rejects. */
export async function keepAttendance(host: HostState, signal: AbortSignal): Promise<void> {
  const { clock } = host.ports
  try {
    for (;;) {
      const beganMs = clock.now()
      await clock.sleep(everyMs, signal)
      if (host.trainingSinceMs !== undefined) host.attendance.add(host.roll.all, clock.now() - beganMs)
    }
  } catch {
    // The job is over.
  }
}
