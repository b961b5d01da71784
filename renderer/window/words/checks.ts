/** What the Trouble page finds, from what the agent and the desktop say about themselves. */
import type { DesktopState } from '../../../shared/messages/ipc.ts'
import type { Snapshot } from '../../../shared/messages/control.ts'
import { count } from './numbers.ts'

export interface Check {
  readonly level: 'ok' | 'warn' | 'bad'
  readonly name: string
  readonly finding: string
}

function agentCheck(snapshot: Snapshot | null, desktop: DesktopState | null): Check {
  if (desktop?.agent === 'stopped')
    return {
      level: 'bad',
      name: 'Agent stopped',
      finding: `${desktop.cause} Try ${count(desktop.tries)} of ${count(desktop.mostTries)}.`,
    }
  if (snapshot === null || desktop?.agent === 'starting')
    return {
      level: 'warn',
      name: 'Agent starts',
      finding: 'It has not said anything yet. This takes a few seconds.',
    }
  return { level: 'ok', name: 'Agent', finding: `Runs. Version ${snapshot.version}.` }
}

function networkCheck({ addresses }: Snapshot): Check {
  if (addresses.length === 0)
    return {
      level: 'bad',
      name: 'No network',
      finding: 'This PC has no address that others could reach. Check its network connection.',
    }
  if (addresses.every((address) => address.includes('/p2p-circuit')))
    return {
      level: 'warn',
      name: 'Reached through a relay',
      finding:
        'The router lets no one in, so data takes a detour and is slower. Turn on UPnP in the router, or leave it: training works.',
    }
  return {
    level: 'ok',
    name: 'Network',
    finding: `Other PCs may call it at ${count(addresses.length)} ${addresses.length === 1 ? 'address' : 'addresses'}.`,
  }
}

/** By the name that the agent says: as the setting has it before a job, `tfjs-…` from then on. */
const engineNames: Readonly<Record<string, string>> = {
  'node-gpu': 'TensorFlow on the graphics chip',
  node: 'TensorFlow on the processor',
  webgpu: 'WebGPU on the graphics chip',
  wasm: 'WebAssembly on the processor',
  kernels: 'Rookery’s own kernels on the processor',
}

function engineCheck({ backend }: Snapshot): Check {
  const engine = backend.replace(/^tfjs-/, '').replace(/^kernels-.*/, 'kernels')
  if (engine === 'cpu')
    return {
      level: 'warn',
      name: 'Slow engine',
      finding:
        'Training runs on the plain reference engine, many times slower than others. The log says why no other one loaded.',
    }
  const name = engineNames[engine]
  const finding =
    name === undefined
      ? 'The fastest that works on this PC is chosen when a job starts.'
      : `${backend.startsWith('tfjs-') ? 'Trains' : 'Will train'} with ${name}.`
  return { level: 'ok', name: 'Engine', finding }
}

function trayCheck({ tray }: DesktopState): Check {
  return tray
    ? { level: 'ok', name: 'Tray', finding: 'Closing the window leaves Rookery in the tray.' }
    : {
        level: 'warn',
        name: 'No tray',
        finding: 'This desktop has no tray, so closing the window minimises it. Training goes on.',
      }
}

/** Worst first. */
export function checksOf(snapshot: Snapshot | null, desktop: DesktopState | null): Check[] {
  const checks = [
    agentCheck(snapshot, desktop),
    ...(snapshot === null ? [] : [networkCheck(snapshot), engineCheck(snapshot)]),
    ...(desktop === null ? [] : [trayCheck(desktop)]),
  ]
  const order = ['bad', 'warn', 'ok']
  return checks.sort((a, b) => order.indexOf(a.level) - order.indexOf(b.level))
}

/** What the side bar marks: what a person can do nothing about (no tray, a start that takes a moment) is no mark. */
export function needsALook(snapshot: Snapshot | null, desktop: DesktopState | null): 'none' | 'warn' | 'bad' {
  const levels = checksOf(snapshot, desktop)
    .filter(({ name }) => name !== 'No tray' && name !== 'Agent starts')
    .map(({ level }) => level)
  if (levels.includes('bad')) return 'bad'
  return levels.includes('warn') ? 'warn' : 'none'
}

export function checksInWords(checks: readonly Check[]): string {
  const look = checks.filter(({ level }) => level !== 'ok').length
  const fine = checks.length - look
  if (look === 0) return `All ${fine} checks are fine.`
  return `${look} ${look === 1 ? 'thing needs' : 'things need'} a look, ${fine} ${fine === 1 ? 'is' : 'are'} fine.`
}
