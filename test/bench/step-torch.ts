/** PyTorch's side of `bench step`: a process that trains the same model and does as many steps as it is told. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { z } from 'zod'
import type { Runner, Subject } from './step-models.ts'

/** Debian's own python has python3-torch; another may stand before it. */
const pythons = ['python3', '/usr/bin/python3']
const greeting = z.object({ about: z.string(), parameters: z.number() })

type Process = ChildProcessByStdio<Writable, Readable, null>

/** @returns undefined, after a line on stderr, where there is no PyTorch or it trains another model */
export async function openTorch(
  { name, batch }: Subject,
  threads: number,
  parameters: number,
): Promise<{ runner: Runner; about: string } | undefined> {
  const script = join(import.meta.dirname, 'step-torch.py')
  for (const python of pythons) {
    const child = spawn(python, [script, name, String(batch), String(threads)], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { ...process.env, OMP_NUM_THREADS: String(threads) },
    })
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const next = async () => (await lines.next()).value
    child.on('error', () => undefined)
    const first = await next()
    if (first === undefined) continue
    const { about, parameters: theirs } = greeting.parse(JSON.parse(first))
    if (theirs === parameters) return { about, runner: runnerOf(`torch ${threads}`, child, next) }
    child.kill()
    process.stderr.write(`${name}: PyTorch's model has ${theirs} parameters, ours ${parameters}\n`)
    return undefined
  }
  process.stderr.write(`${name}: no PyTorch here (python3-torch), so nothing to compare with\n`)
  return undefined
}

function runnerOf(name: string, child: Process, next: () => Promise<string | undefined>): Runner {
  return {
    name,
    async run(steps) {
      child.stdin.write(`${steps}\n`)
      return Number(await next())
    },
    async stop() {
      child.stdin.end()
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}
