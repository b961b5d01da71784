/** WebGPU in plain Node: Dawn's bindings, TensorFlow.js's backend on them, and which GPU they found. */
import { InvalidInputError } from '../../../../../shared/errors.ts'
import { importOptional } from '../import-optional.ts'

/** What a driver says of its GPU. Any text may be empty. */
export interface Adapter {
  readonly vendor: string
  readonly architecture: string
  readonly device: string
  readonly description: string
  /** Computed on the processor, as SwiftShader: for tests, slower than any other backend. */
  readonly software: boolean
}

/** A GPUAdapterInfo. */
type AdapterInfo = Omit<Adapter, 'software'> & { readonly isFallbackAdapter?: boolean }

interface Gpu {
  requestAdapter(options: object): Promise<{ readonly info: AdapterInfo } | null>
}

interface Dawn {
  create(options: readonly string[]): Gpu
  readonly globals: object
}

/** As TensorFlow.js asks for it, so that both get the same one. */
const wanted = { powerPreference: 'high-performance' }

/**
 * Make the backend ready to be set.
 *
 * @returns the name that tf knows it by, and the GPU
 * @throws InvalidInputError with the reason as a sentence
 */
export async function loadWebgpu(): Promise<{ readonly known: string; readonly adapter: Adapter }> {
  const adapter = await (await gpuOfThread()).requestAdapter(wanted)
  // Before tf's backend asks: it takes an adapter for granted, and tf then goes on with another backend.
  if (adapter === null)
    throw new InvalidInputError('It finds no GPU; install or update the driver of your graphics card.')
  await load('@tensorflow/tfjs-backend-webgpu')
  const { vendor, architecture, device, description, isFallbackAdapter = false } = adapter.info
  return {
    known: 'webgpu',
    adapter: { vendor, architecture, device, description, software: isFallbackAdapter },
  }
}

/** An adapter's name for people. */
export function nameOf({ vendor, architecture, device, description, software }: Adapter): string {
  const name =
    description || device || [vendor, architecture].filter(Boolean).join(' ') || 'a GPU without a name'
  return software ? `${name}, a GPU imitated by the processor` : name
}

/** `navigator.gpu` of this thread, where tf's backend looks for it. */
async function gpuOfThread(): Promise<Gpu> {
  if (!('gpu' in navigator)) {
    requireVulkan()
    const dawn = (await load('webgpu')) as Dawn
    Object.assign(globalThis, dawn.globals)
    Object.defineProperty(navigator, 'gpu', { value: dawn.create([]), configurable: true })
  }
  return (navigator as unknown as { readonly gpu: Gpu }).gpu
}

/** Dawn complains on everybody's terminal where Linux has no Vulkan. The loader says the same in its error. */
function requireVulkan(): void {
  if (process.platform !== 'linux') return
  try {
    process.dlopen({ exports: {} }, 'libvulkan.so.1')
  } catch (thrown) {
    // Found, the library is refused all the same: it is no addon.
    if ((thrown as Error).message.includes('cannot open shared object file'))
      throw new InvalidInputError(
        'It finds no Vulkan (libvulkan.so.1); install your GPU’s driver and libvulkan1.',
      )
  }
}

async function load(name: string): Promise<unknown> {
  try {
    return await importOptional(name)
  } catch (thrown) {
    const { message, code } = thrown as { readonly message: string; readonly code?: string }
    if (code === 'ERR_MODULE_NOT_FOUND' && message.includes(`'${name}'`))
      throw new InvalidInputError(
        'It is not installed; npm ci fetches it unless told to leave out what is optional.',
      )
    throw new InvalidInputError(`It does not load: ${message.split('\n')[0] ?? ''}.`)
  }
}
