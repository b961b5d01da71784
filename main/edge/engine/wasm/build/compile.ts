/** The kernels as WebAssembly: the AssemblyScript sources of `kernels/`, with the tile of one width. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { InvariantError } from '../../../../../shared/errors.ts'
import { type SharedKernel, dispatchSource, sharedKernelsOf } from './dispatch.ts'
import { type TileWidth, tileSource } from './tile.ts'

/** What is used of the compiler. Its own types would declare AssemblyScript's globals for the whole program. */
interface Compiler {
  createMemoryStream(): { toString(): string }
  main(
    options: readonly string[],
    world: {
      readonly stderr: object
      readonly readFile: (name: string) => string | null | Promise<string | null>
      readonly writeFile: (name: string, contents: string | Uint8Array) => void
      readonly listFiles: () => readonly string[]
    },
  ): Promise<{ readonly error: Error | null }>
}

const compiler = 'assemblyscript/asc'
const folder = join(import.meta.dirname, '../kernels')

const options = [
  ...['--optimizeLevel', '3', '--noAssert', '--runtime', 'stub'],
  ...['--importMemory', '--sharedMemory', '--maximumMemory', '65536'],
  ...['--enable', 'simd,relaxed-simd,threads'],
]

/** @throws InvariantError with the compiler's words when the sources do not compile */
export async function compileKernels(width: TileWidth): Promise<Uint8Array> {
  let binary: Uint8Array | undefined
  const written = new Map([
    ['tile.ts', tileSource(width)],
    ['dispatch.ts', dispatchSource(await sharedKernels())],
  ])
  const asc = (await import(compiler)) as Compiler
  const stderr = asc.createMemoryStream()
  const { error } = await asc.main(['module.ts', '--outFile', 'kernels.wasm', ...options], {
    stderr,
    readFile: (name) => written.get(name) ?? readIfThere(join(folder, name)),
    writeFile: (_name, contents) => {
      if (typeof contents !== 'string') binary = contents
    },
    listFiles: () => [],
  })
  if (error !== null || binary === undefined)
    throw new InvariantError(`the kernels do not compile: ${error?.message ?? ''}\n${stderr.toString()}`)
  return binary
}

/** The compiler asks for files that may not be there; null tells it so. */
async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch {
    return null
  }
}

/** The kernels that threads may share, in the order of their numbers. */
export async function sharedKernels(): Promise<readonly SharedKernel[]> {
  const exported = await readFile(join(folder, 'module.ts'), 'utf8')
  const files = (await readdir(folder)).sort()
  const sources = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
  return files
    .flatMap((file, index) => sharedKernelsOf(`./${file.replace('.ts', '')}`, sources[index] ?? ''))
    .filter(({ name }) => new RegExp(`\\b${name}\\b`).test(exported))
}
