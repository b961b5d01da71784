/**
 * `npm run native:build -- --tensorflow FOLDER [--gpu]`: build tfjs-node's addon against a TensorFlow on this machine,
 * for example the unpacked files of a Python wheel (2.12 and later hold the C library; 2.12.1 is tested):
 * `pip install --no-deps --target DIR tensorflow-cpu==2.12.1`, then `--tensorflow DIR/tensorflow`.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { InvalidInputError } from '../../../../../shared/errors.ts'
import { compilerArguments, findNodeHeaders, findTensorflow } from './find.ts'
import { fetchPackage, folderOf, requireLoaded, runScript } from './packages.ts'

/** The newest of Node-API that tfjs-node 4.22 was made for; its folder is where the package looks. */
const nodeApi = 8

await runScript(async () => {
  const { values } = parseArgs({
    options: { tensorflow: { type: 'string' }, gpu: { type: 'boolean', default: false } },
  })
  if (values.tensorflow === undefined)
    throw new InvalidInputError('say where TensorFlow is: npm run native:build -- --tensorflow FOLDER')
  if (process.platform === 'win32')
    throw new InvalidInputError('Windows has no TensorFlow to build against; take npm run native:install')
  const tensorflow = findTensorflow(values.tensorflow)
  const headers = findNodeHeaders(process.execPath)
  const flavour = values.gpu ? 'node-gpu' : 'node'
  fetchPackage(flavour)
  const folder = folderOf(flavour)
  const output = join(folder, `lib/napi-v${nodeApi}`)
  mkdirSync(output, { recursive: true })
  const sources = readdirSync(join(folder, 'binding')).filter((file) => file.endsWith('.cc'))
  const given = compilerArguments({
    tensorflow,
    headers,
    sources: sources.map((file) => join(folder, 'binding', file)),
    output: join(output, 'tfjs_binding.node'),
    nodeApi,
  })
  const compiler = process.env['CXX'] ?? 'c++'
  const { status } = spawnSync(compiler, given, { stdio: ['ignore', 2, 2] })
  if (status !== 0)
    throw new InvalidInputError(`${compiler} did not build the addon; it needs a C++17 compiler (set CXX)`)
  await requireLoaded(flavour)
  process.stderr.write(
    `${flavour} opens, on ${tensorflow.libraries.join(' and ')}; rookery bench device shows it. npm ci takes it away again.\n`,
  )
})
