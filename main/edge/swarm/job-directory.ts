/** The swarm's directory of jobs: signed records in the distributed hash table, so that an old invite still finds its host. */
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
      [namespace]: (key: Uint8Array, value: Uint8Array): void => {
        if (readRecord(key, value, verify) === undefined)
          throw new InvalidInputError('the record is not signed by the job that it names')
      },
    },
    selectors: {
      [namespace]: (key: Uint8Array, values: Uint8Array[]): number => {
        const sequences = values.map((value) => readRecord(key, value, verify)?.sequence ?? -1)
        return sequences.indexOf(Math.max(...sequences))
      },
    },
  }
}

export interface JobDirectory {
  /** Publish the record now and again until the next call or `stop`. Resolves after the first attempt. */
  announce(record: JobRecord): Promise<void>
  /** The newest record that peers know. @returns undefined when none does */
  find(job: JobId, signal?: AbortSignal): Promise<JobRecord | undefined>
  stop(): void
}

export function createJobDirectory(
  dht: KadDHT,
  verify: (record: JobRecord) => boolean,
  log: Log,
): JobDirectory {
  let timer: NodeJS.Timeout | undefined
  const stopped = new AbortController()
  const withTimeout = (signal?: AbortSignal): AbortSignal =>
    AbortSignal.any([
      stopped.signal,
      AbortSignal.timeout(queryWithinMs),
      ...(signal === undefined ? [] : [signal]),
    ])

  async function publish(record: JobRecord): Promise<void> {
    const value = new TextEncoder().encode(JSON.stringify(record))
    let kept = 0
    try {
      for await (const event of dht.put(keyOf(record.job), value, { signal: withTimeout() }))
        if (event.name === 'PEER_RESPONSE' && event.record !== undefined) kept++
    } catch (error) {
      if (!stopped.signal.aborted) log('debug', 'the job was not announced', { error: String(error) })
    }
    log('debug', `${kept} peers keep the record of the job`, { job: record.job })
  }
  return {
    async announce(record) {
      clearInterval(timer)
      timer = setInterval(() => void publish(record), announceEveryMs)
      timer.unref()
      await publish(record)
    },
    async find(job, signal) {
      const key = keyOf(job)
      const found: JobRecord[] = []
      const take = (value: Uint8Array | undefined): void => {
        const record = value === undefined ? undefined : readRecord(key, value, verify)
        if (record !== undefined) found.push(record)
      }
      try {
        for await (const event of dht.get(key, { signal: withTimeout(signal) })) {
          if (event.name === 'VALUE') take(event.value)
          if (event.name === 'PEER_RESPONSE') take(event.record?.value)
        }
      } catch (error) {
        // get() also fails where it could not correct a peer with an old record; what was found counts.
        log('debug', 'the search for the job ended early', { error: String(error) })
      }
      return found.sort((a, b) => b.sequence - a.sequence)[0]
    },
    stop() {
      clearInterval(timer)
      stopped.abort()
    },
  }
}
