/**
 * Writes `kernels/dispatch.ts`: calls a kernel by its number, with numbers from memory. AssemblyScript has no calls
 * with a list of arguments, and a table of functions has one type; so every kernel that threads may share is a case.
 */

/** A kernel whose first two parameters are the range of its work. */
export interface SharedKernel {
  readonly name: string
  /** `./file` that exports it. */
  readonly from: string
  /** Types of what follows the range. */
  readonly types: readonly string[]
}

const pattern = /export function (\w+)\(\s*from: i32,\s*to: i32,([^)]*)\): void/g

/** The kernels of one source file. */
export function sharedKernelsOf(from: string, source: string): readonly SharedKernel[] {
  return [...source.matchAll(pattern)].map(([, name = '', parameters = '']) => ({
    ...{ name, from },
    types: [...parameters.matchAll(/: (\w+)/g)].map(([, type = '']) => type),
  }))
}

/** Arguments lie as f64, which holds every address and float; an i32 may have come as an unsigned number. */
function argument(type: string, index: number): string {
  const value = `load<f64>(given, ${8 * index})`
  return type === 'i32' || type === 'usize' ? `<${type}><i64>${value}` : `<${type}>${value}`
}

/** @param kernels - in the order of their numbers */
export function dispatchSource(kernels: readonly SharedKernel[]): string {
  const imports = kernels.map(({ name, from }) => `import { ${name} } from '${from}'`)
  const cases = kernels.map(
    ({ name, types }, number) => `    case ${number}:
      ${name}(${['from', 'to', ...types.map(argument)].join(', ')})
      break`,
  )
  return `// Written by build/dispatch.ts.
${imports.join('\n')}

export function dispatch(kernel: i32, from: i32, to: i32, given: usize): void {
  switch (kernel) {
${cases.join('\n')}
    default:
      break
  }
}
`
}
