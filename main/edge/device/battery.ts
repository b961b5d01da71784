/** Whether this PC runs on its battery. */
import { battery } from 'systeminformation'

type Reading = Pick<Awaited<ReturnType<typeof battery>>, 'hasBattery' | 'acConnected' | 'isCharging'>

/** @returns undefined where there is no battery. Takes a millisecond on Linux, a new PowerShell on Windows: ask rarely. */
export async function runsOnBattery(read: () => Promise<Reading> = battery): Promise<boolean | undefined> {
  const { hasBattery, acConnected, isCharging } = await read()
  return hasBattery ? !acConnected && !isCharging : undefined
}
