/** Tries every backend, each in a thread of its own: what one leaves in its thread, the others do not meet. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { type BackendName, type BackendProbe, backendNames } from './backend-names.ts'
import { quietTensorflow } from './native/quiet.ts'

export function probeBackends(): Promise<readonly BackendProbe[]> {
  return Promise.all(backendNames.map(probeBackend))
}

export async function probeBackend(name: BackendName): Promise<BackendProbe> {
  quietTensorflow()
  const worker = new Worker(new URL('./probe-worker.ts', import.meta.url), { workerData: name })
  try {
    const [probe] = (await once(worker, 'message')) as [BackendProbe]
    return probe
  } catch (thrown) {
    return { name, loaded: false, reason: `It fails while it loads: ${(thrown as Error).message}.` }
  } finally {
    await worker.terminate()
  }
}
