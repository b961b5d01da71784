/** Whether the packages of an optional backend are there, found out without loading anything. */
import type { BackendName } from './backend-names.ts'

const packages: Readonly<Partial<Record<BackendName, readonly string[]>>> = {
  'node-gpu': ['@tensorflow/tfjs-node-gpu'],
  node: ['@tensorflow/tfjs-node'],
}

/** True does not mean that it starts. */
export function isInstalled(name: BackendName): boolean {
  return (packages[name] ?? []).every((specifier) => {
    try {
      import.meta.resolve(specifier)
      return true
    } catch {
      return false
    }
  })
}
