/** The swarm's directory of jobs: signed records in the distributed hash table, so that an old invite still finds its host. */
import { setTimeout } from 'node:timers/promises'
import type { KadDHT } from '@libp2p/kad-dht'
import { InvalidInputError } from '../../../shared/errors.ts'
import type { JobId } from '../../../shared/ids.ts'
import { jobRecord, type JobRecord } from '../../../shared/invite.ts'
import { kibibyte, minute, second } from '../../../shared/units.ts'
import type { Log } from '../../core/ports.ts'

const namespace = 'rookery'
const maxRecordBytes = 20 * kibibyte
/** Peers that keep a record come and go; a day's churn must not lose it. */
const announceEveryMs = 10 * minute
const firstPauseMs = second
const queryWithinMs = 20 * second

const keyOf = (job: JobId): Uint8Array => new TextEncoder().encode(`/${namespace}/job/${job}`)

/** @returns undefined for what is not a record of this job, or not signed with its key */
function readRecord(
  key: Uint8Array,
  value: Uint8Array,
  verify: (record: JobRecord) => boolean,
): JobRecord | undefined {
  if (value.length > maxRecordBytes) return undefined
  try {
    const record = jobRecord.parse(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(value)))
    const belongs = new TextDecoder().decode(key) === `/${namespace}/job/${record.job}`
    return belongs && verify(record) ? record : undefined
  } catch {
    return undefined
  }
}

/** What the table keeps under our names: only signed records, and of several the newest. */
export function recordRules(verify: (record: JobRecord) => boolean) {
  return {
    validators: {
      rookery: (key: Uint8Array, value: Uint8Array): void => {
        if (readRecord(key, value, verify) === undefined)
          throw new InvalidInputError('the record is not signed by the job that it names')
      },
    },
    selectors: {
      rookery: (key: Uint8Array, values: Uint8Array[]): number => {
        const sequences = values.map((value) => readRecord(key, value, verify)?.sequence ?? -1)
        return sequences.indexOf(Math.max(...sequences))
      },
    },
  }
}

export interface JobDirectory {
  /** Publish the record, soon again while nobody keeps it, then now and again until the next call. Resolves once a peer keeps it. */
  announce(record: JobRecord): Promise<void>
  /** The newest record that peers know. @returns undefined when those that answer know none, or none answers in time */
  find(job: JobId, signal?: AbortSignal): Promise<JobRecord | undefined>
  stop(): void
}

type Check = (record: JobRecord) => boolean
interface Directory {
  readonly dht: KadDHT
  readonly verify: Check
  readonly log: Log
}

/** @returns how many peers keep the record now */
async function publish(dht: KadDHT, record: JobRecord, signal: AbortSignal): Promise<number> {
  const value = new TextEncoder().encode(JSON.stringify(record))
  let kept = 0
  for await (const event of dht.put(keyOf(record.job), value, { signal }))
    if (event.name === 'PEER_RESPONSE' && event.record !== undefined) kept++
  return kept
}

/**
 * Ask once. Every value counts as it comes, not only the last word of get(): that fails where it cannot correct a
 * peer with an old record.
 */
async function ask({ dht, verify, log }: Directory, job: JobId, signal: AbortSignal) {
  const key = keyOf(job)
  const found: JobRecord[] = []
  let answers = 0
  const take = (value: Uint8Array | undefined): void => {
    const record = value === undefined ? undefined : readRecord(key, value, verify)
    if (record !== undefined) found.push(record)
  }
  try {
    for await (const event of dht.get(key, { signal })) {
      if (event.name === 'VALUE') take(event.value)
      if (event.name !== 'PEER_RESPONSE') continue
      answers++
      take(event.record?.value)
    }
  } catch (error) {
    log('debug', 'the search for the job ended early', { error: String(error) })
  }
  return { newest: found.sort((a, b) => b.sequence - a.sequence)[0], answers }
}

export function createJobDirectory(directory: Directory): JobDirectory {
  const { dht, log } = directory
  const stopped = new AbortController()
  let announcing = new AbortController()
  const within = (...signals: AbortSignal[]): AbortSignal =>
    AbortSignal.any([stopped.signal, AbortSignal.timeout(queryWithinMs), ...signals])

  async function attempt(record: JobRecord, signal: AbortSignal): Promise<number> {
    try {
      return await publish(dht, record, within(signal))
    } catch (error) {
      log('debug', 'the job was not announced', { error: String(error) })
      return 0
    }
  }
  async function goOn(record: JobRecord, signal: AbortSignal, onKept: () => void): Promise<void> {
    for (let pause = firstPauseMs; !signal.aborted; pause = Math.min(2 * pause, announceEveryMs)) {
      const kept = await attempt(record, signal)
      if (kept > 0) {
        onKept()
        pause = announceEveryMs
      }
      await setTimeout(pause, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }
  return {
    announce(record) {
      announcing.abort()
      announcing = new AbortController()
      const signal = AbortSignal.any([announcing.signal, stopped.signal])
      return new Promise((resolve) => {
        void goOn(record, signal, resolve).then(resolve)
      })
    },
    async find(job, signal) {
      const limit = within(...(signal === undefined ? [] : [signal]))
      // A table that just started knows nobody; peers enter it a moment after they connect.
      while (!limit.aborted) {
        const { newest, answers } = await ask(directory, job, limit)
        if (newest !== undefined || answers > 0) return newest
        await setTimeout(firstPauseMs, undefined, { signal: limit, ref: false }).catch(() => undefined)
      }
      return undefined
    },
    stop() {
      stopped.abort()
    },
  }
}
