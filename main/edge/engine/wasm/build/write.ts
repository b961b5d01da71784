/** `npm run build:kernels`: compiles the kernels into the binaries that are committed. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { compileKernels, sharedKernels } from './compile.ts'

const folder = join(import.meta.dirname, '../generated')
await mkdir(folder, { recursive: true })
await writeFile(join(folder, 'narrow.wasm'), await compileKernels(8))
await writeFile(join(folder, 'wide.wasm'), await compileKernels(16))
const numbers = (await sharedKernels()).map(({ name }, number) => [name, number])
await writeFile(join(folder, 'numbers.json'), `${JSON.stringify(Object.fromEntries(numbers), null, 2)}\n`)
