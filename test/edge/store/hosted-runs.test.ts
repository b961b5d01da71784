import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { SavedRun } from '../../../main/core/ports.ts'
import type { HostedJobFile } from '../../../main/edge/store/hosted-runs.ts'
import { createVault } from '../../../main/edge/store/vault.ts'
import { finishedModel, job, temporaryFolder } from './fixtures.ts'

const other = `89ab${'c'.repeat(60)}`

const hosted: HostedJobFile = {
  format: 'rookery-hosted/1',
  spec: finishedModel().spec,
  gathering: { peers: 3, deadlineSeconds: 600, inviteHours: 24 },
  privateKey: '1'.repeat(64),
  secrets: [['2'.repeat(32), 1_800_000_000_000]],
}

const sent = { activations: 1, gradients: 2, parameters: 3, data: 4 }
const did = {
  ...{
    updates: 7,
    samples: 70,
    averagedSamples: 70,
    busyMs: 1.5,
    dropped: 0,
    maxStaleness: 1,
    peakTensorBytes: 9,
  },
  ...{ sent, rounds: { averaged: 1, abandoned: 0 }, waitingFor: '' },
}

const runAt = (updates: number): SavedRun => ({
  book: {
    planNumber: 4,
    trained: [
      {
        updates,
        samples: 10 * updates,
        lost: 0,
        doubled: 0,
        cuts: [
          [
            [0, 4],
            [1, 2],
          ],
        ],
      },
    ],
    secondsTrained: 12.5,
    trainingCurve: [{ updates: 1, loss: 2.25 }],
    validationCurve: [],
    members: [
      {
        peer: 'peer-a',
        device: { displayName: 'attic', backend: 'tfjs-wasm', memoryBytes: 1e9, flopsPerSecond: 1e9 },
        addresses: ['/ip4/192.0.2.1/tcp/1/p2p/peer-a'],
        did,
        doing: { ...did, cursor: [1, 32] },
        links: [{ peer: 'peer-b', roundTripSeconds: 0.02, bytesPerSecond: 1e6 }],
        left: true,
      },
    ],
    own: { did, links: [{ peer: 'peer-a', roundTripSeconds: 0.02, bytesPerSecond: 2e6 }] },
  },
  checkpoint: {
    updates,
    state: { layers: [0, 3], values: Float32Array.from({ length: 18 }, (_, index) => index + updates) },
    moments: [new Float32Array(18).fill(0.5), new Float32Array(18).fill(0.25)],
  },
})

describe('a hosted run', () => {
  it('comes back as it was written down last', async () => {
    const home = await temporaryFolder()
    const vault = await createVault(home)
    expect(await vault.newestHostedRun()).toBeUndefined()
    await vault.saveHostedJob(job, hosted)
    expect(await vault.newestHostedRun()).toEqual({ job, file: hosted, run: undefined })
    for (const updates of [5, 6, 7]) await vault.saveRun(job, runAt(updates))
    expect(await (await createVault(home)).newestHostedRun()).toEqual({ job, file: hosted, run: runAt(7) })
    expect((await readdir(join(home, 'hosted', job))).sort()).toEqual(
      ['2.safetensors', '3.safetensors', 'book.json', 'job.json'].sort(),
    )
    await vault.forgetHostedRun(job)
    expect(await vault.newestHostedRun()).toBeUndefined()
  })

  it('is read by its owner alone: it holds the key of the job', async () => {
    const home = await temporaryFolder()
    await (await createVault(home)).saveHostedJob(job, hosted)
    const mode = async (...path: string[]) =>
      ((await stat(join(home, 'hosted', ...path))).mode & 0o777).toString(8)
    expect([await mode(job), await mode(job, 'job.json')]).toEqual(['700', '600'])
  })

  it('goes back to the checkpoint before when the newest is broken, and to none when its book is', async () => {
    const home = await temporaryFolder()
    const vault = await createVault(home)
    await vault.saveHostedJob(job, hosted)
    for (const updates of [5, 6]) await vault.saveRun(job, runAt(updates))
    const folder = join(home, 'hosted', job)
    const newest = join(folder, '2.safetensors')
    const bytes = await readFile(newest)
    bytes.writeUInt8(bytes.at(-1)! ^ 1, bytes.length - 1)
    await writeFile(newest, bytes)
    expect((await vault.newestHostedRun())?.run?.checkpoint).toEqual(runAt(5).checkpoint)
    await writeFile(join(folder, 'book.json'), '{"planNumber": -1}')
    expect(await vault.newestHostedRun()).toEqual({ job, file: hosted, run: undefined })
  })

  it.each(['', '{', '{"format":"rookery-hosted/2"}', JSON.stringify({ ...hosted, privateKey: 'short' })])(
    'is passed over, for an older one, when its job file is %j',
    async (text) => {
      const home = await temporaryFolder()
      const vault = await createVault(home)
      await vault.saveHostedJob(job, hosted)
      await mkdir(join(home, 'hosted', other))
      await mkdir(join(home, 'hosted', 'no-job'))
      await writeFile(join(home, 'hosted', other, 'job.json'), text)
      expect((await vault.newestHostedRun())?.job).toBe(job)
    },
  )
})
