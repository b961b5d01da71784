/** Tells the agent what the desktop knows better: battery, and how long nobody has touched keyboard or mouse. */
import type { PowerMonitor } from 'electron'
import { type Millis, minute, second } from '../../../shared/units.ts'
import type { AgentLink } from '../agent/agent-link.ts'

/** While "only when idle" is on, the person's return must be noticed at once. */
const attentiveMs: Millis = second
/** Otherwise only the battery counts, and that has events of its own. */
const relaxedMs: Millis = minute

export function followPower(monitor: PowerMonitor, link: AgentLink): void {
  const tell = (onBattery: boolean): void => {
    if (link.status.get().name !== 'running') return
    const idleSeconds = Math.max(0, monitor.getSystemIdleTime())
    // It may just have ended; its next start is told anew.
    link.command('power', { onBattery, idleSeconds }).catch(() => undefined)
  }
  const tellAll = (): void => {
    tell(monitor.isOnBatteryPower())
  }
  let timer: NodeJS.Timeout | undefined
  let everyMs = relaxedMs
  const tick = (): void => {
    timer = setTimeout(() => {
      tellAll()
      tick()
    }, everyMs)
  }
  link.snapshot.subscribe((snapshot) => {
    const watched = snapshot?.limits.some(({ limit, state }) => limit === 'idleMinutes' && state !== 'off')
    const wanted = watched === true ? attentiveMs : relaxedMs
    if (wanted === everyMs) return
    everyMs = wanted
    clearTimeout(timer)
    tick()
  })
  link.status.subscribe(tellAll)
  monitor.on('on-battery', () => {
    tell(true)
  })
  monitor.on('on-ac', () => {
    tell(false)
  })
  monitor.on('resume', tellAll)
  monitor.on('unlock-screen', tellAll)
  tick()
}
