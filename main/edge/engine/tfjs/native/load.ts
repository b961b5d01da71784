/** TensorFlow's own library through tfjs-node. Nobody has it unless they fetched it (docs/decisions/0015). */
import util from 'node:util'
import * as tf from '@tensorflow/tfjs'
import { InvalidInputError } from '../../../../../shared/errors.ts'
import { importOptional } from '../import-optional.ts'
import { quietTensorflow } from './quiet.ts'

export type NativePackage = '@tensorflow/tfjs-node' | '@tensorflow/tfjs-node-gpu'

/**
 * Make the backend of a native package ready to be set.
 *
 * @returns the name that tf knows it by
 * @throws InvalidInputError with the reason as a sentence
 */
export async function loadNative(name: NativePackage): Promise<string> {
  restoreRemovedFunctions()
  quietTensorflow()
  try {
    await importOptional(name)
  } catch (thrown) {
    throw new InvalidInputError(whyNot(name, thrown))
  }
  if (name === '@tensorflow/tfjs-node-gpu' && !computesOnGpu())
    throw new InvalidInputError(
      'It finds no GPU; it takes NVIDIA’s, with the CUDA and cuDNN it was built for.',
    )
  return 'tensorflow'
}

/** The GPU package goes on with the processor where it finds no GPU. */
function computesOnGpu(): boolean {
  const backend = tf.findBackend('tensorflow') as { readonly isUsingGpuDevice?: boolean } | null
  return backend?.isUsingGpuDevice === true
}

/** tfjs-node 4.22 calls what Node 23 removed (tfjs#8425), and what Node 22 warns of. */
function restoreRemovedFunctions(): void {
  const isNullOrUndefined = (value: unknown): boolean => value === null || value === undefined
  Object.assign(util, { isNullOrUndefined, isArray: Array.isArray })
}

function whyNot(name: NativePackage, thrown: unknown): string {
  const { message, code } = thrown as { readonly message: string; readonly code?: string }
  const [line = ''] = message.split('\n')
  if (code === 'ERR_MODULE_NOT_FOUND' && line.includes(`'${name}'`))
    return 'It is not installed; in a checkout npm run native:install fetches it.'
  if (line.includes('native addon module'))
    return 'It has no addon; in a checkout npm run native:build -- --tensorflow FOLDER builds it.'
  if (code === 'ERR_DLOPEN_FAILED') return `It does not find its libraries: ${line}.`
  return `It does not load: ${line}.`
}
