/**
 * A round of 2, 4 and 8 members, processes of their own on lines of 20, 100 and 1000 Mbit/s: its time against what the
 * bytes and the latency take at the least, its bytes against the formula, and what it costs training meanwhile.
 * `npm run bench -- average [--only 100] [--only 4x] [--json]`. Shapes namespaces of this machine, so it needs root.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { InvalidInputError, InvariantError } from '../../shared/errors.ts'
import { bytesPerFloat, mebibyte, second, type Bytes, type Millis } from '../../shared/units.ts'
import { startRing, type Ring } from './average/members.ts'
import { layNamespaces, whyNoNamespaces, type Line, type Namespaces } from './average/namespaces.ts'
import { rows, type Training } from './average/orders.ts'
import { median } from '../../shared/median.ts'

const ringSizes = [2, 4, 8]
/** Mbit/s, and bytes of the model, from a small one to half of resnet18: a round takes one to five seconds. */
const lines = [
  { rate: 20, modelBytes: 6 * mebibyte },
  { rate: 100, modelBytes: 24 * mebibyte },
  { rate: 1000, modelBytes: 64 * mebibyte },
]
const rounds = 3
/** Where the kernel can delay packets: within a country. */
const latencyMs = 5
/** As large as keeps both processors of a usual PC busy, and of the line's upload this share. */
const computeMs = 40
const trainingShare = 0.3
const usualInFlight = 3

interface Case {
  readonly members: number
  readonly line: Line
  readonly elements: number
  /** 2(C−1)/C · S/B + 2(C−1)·L */
  readonly floorMs: Millis
  /** 2(C−1)/C · S */
  readonly formulaBytes: Bytes
}

function caseOf(members: number, { bytesPerSecond, latencyMs: lag }: Line, modelBytes: Bytes): Case {
  // Whole columns, and so whole chunks.
  const elements = Math.ceil(modelBytes / bytesPerFloat / rows) * rows
  const formulaBytes = ((2 * (members - 1)) / members) * elements * bytesPerFloat
  const floorMs = (formulaBytes / bytesPerSecond) * second + 2 * (members - 1) * lag
  return { members, line: { bytesPerSecond, latencyMs: lag }, elements, floorMs, formulaBytes }
}

/** One round of all: from the first that is ready to the last that has the mean. */
async function roundOf(ring: Ring, trains: boolean) {
  const done = await ring.all('round', { weight: 10, trains })
  const [first] = done
  if (first === undefined) throw new InvariantError('a ring without members')
  return {
    tookMs:
      Math.max(...done.map(({ endedMs }) => endedMs)) - Math.min(...done.map(({ startedMs }) => startedMs)),
    sentBytes: Math.max(...done.map(({ sentBytes }) => sentBytes)),
    lineBytes: Math.max(...done.map(({ lineBytes }) => lineBytes)),
    cpuMs: done.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
  }
}

/** Micro-batches a second of all clusters while `deed` goes on. */
async function pace(ring: Ring, deed: () => Promise<unknown>): Promise<number> {
  const before = await ring.all('trained', null)
  await deed()
  const after = await ring.all('trained', null)
  const rates = after.map(({ microBatches, atMs }, index) => {
    const from = before[index] ?? { microBatches: 0, atMs }
    return ((microBatches - from.microBatches) / (atMs - from.atMs)) * second
  })
  return rates.reduce((sum, rate) => sum + rate, 0)
}

async function whileTraining(ring: Ring, { line, floorMs }: Case) {
  const training: Training = {
    activationBytes: (line.bytesPerSecond * trainingShare * computeMs) / second / 2,
    ...{ inFlight: usualInFlight, computeMs },
  }
  await ring.all('train', training)
  await delay(20 * computeMs)
  const alone = () => pace(ring, () => delay(floorMs))
  const averaging = () => pace(ring, () => roundOf(ring, true))
  const before = await alone()
  const meanwhile = await averaging()
  const after = await alone()
  const again = await averaging()
  await ring.all('rest', null)
  return { slowdown: 1 - (meanwhile + again) / (before + after), alone: (before + after) / 2 }
}

async function measure(ring: Ring, one: Case): Promise<Record<string, number>> {
  const still = await roundOf(ring, false)
  const digests = new Set(await ring.all('digest', null))
  if (digests.size !== 1) throw new InvariantError('the members ended with different numbers')
  const seen = []
  for (let round = 0; round < rounds; round++) seen.push(await roundOf(ring, true))
  const { slowdown, alone } = await whileTraining(ring, one)
  const bytes = Math.max(still.sentBytes, ...seen.map(({ sentBytes }) => sentBytes))
  const movedGigabytes = (one.formulaBytes * one.members) / 1e9
  return {
    'round ms': median(seen.map(({ tookMs }) => tookMs)),
    'time / floor': median(seen.map(({ tookMs }) => tookMs)) / one.floorMs,
    'bytes / formula': bytes / one.formulaBytes,
    'frames / formula': median(seen.map(({ lineBytes }) => lineBytes)) / one.formulaBytes,
    'processor s / GB': median(seen.map(({ cpuMs }) => cpuMs)) / second / movedGigabytes,
    'processor s / round s': median(seen.map(({ cpuMs, tookMs }) => cpuMs / tookMs)),
    'training micro-batches / s': alone,
    'training slowed': slowdown,
  }
}

async function measureRing(members: number, rates: typeof lines, say: (text: string) => void) {
  const namespaces: Namespaces = layNamespaces(members)
  const figures: Record<string, number> = {}
  let ring: Ring | undefined
  try {
    namespaces.shape({ bytesPerSecond: 125e6, latencyMs: 0 })
    ring = await startRing(members, namespaces)
    for (const [index, { rate, modelBytes }] of rates.entries()) {
      const bytesPerSecond = (rate * 1e6) / 8
      const delays = namespaces.shape({ bytesPerSecond, latencyMs })
      const one = caseOf(members, { bytesPerSecond, latencyMs: delays ? latencyMs : 0 }, modelBytes)
      await ring.all('plan', { number: index + 1, elements: one.elements, members: [...ring.peers] })
      const found = await measure(ring, one)
      const name = `${members}x${rate}`
      for (const [what, value] of Object.entries(found)) figures[`${name} ${what}`] = value
      const shown = Object.entries(found).map(([what, value]) => `${what} ${value.toPrecision(3)}`)
      say(`${name} Mbit/s, ${delays ? latencyMs : 0} ms: ${shown.join(', ')}`)
    }
  } finally {
    await ring?.stop()
    namespaces.clear()
  }
  return figures
}

/** @param only - "100" (Mbit/s), "4x" (members), "4x100"; none: everything @throws InvalidInputError without root */
export async function benchAverage(only: readonly string[] = []): Promise<Record<string, number>> {
  const reason = whyNoNamespaces()
  if (reason !== undefined) throw new InvalidInputError(reason)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  const wanted = (members: number, rate: number) =>
    only.length === 0 || only.some((one) => [`${members}x`, `${rate}`, `${members}x${rate}`].includes(one))
  const figures: Record<string, number> = {}
  for (const members of ringSizes) {
    const rates = lines.filter(({ rate }) => wanted(members, rate))
    if (rates.length > 0)
      Object.assign(figures, await measureRing(members, rates, (text) => process.stderr.write(`${text}\n`)))
  }
  return figures
}
