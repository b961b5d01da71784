/** Three equal stages as processes of their own, each on an engine that takes its time: what the pipeline leaves idle. */
import { fork, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { issueCertificate } from '../../../main/edge/identity/certificate.ts'
import { createJobKey } from '../../../main/edge/identity/job-key.ts'
import { InvariantError } from '../../../shared/errors.ts'
import { hour } from '../../../shared/units.ts'
import type { StageOrder, StageWord } from './orders.ts'

const stages = 3

type Named<K extends string> = Extract<StageWord, Readonly<Record<K, unknown>>>

function startStage() {
  const child: ChildProcess = fork(join(import.meta.dirname, 'child.ts'))
  const words: StageWord[] = []
  let wake: () => void = () => undefined
  child.on('message', (word: StageWord) => {
    words.push(word)
    wake()
  })
  let ended = false
  child.on('exit', () => {
    ended = true
    wake()
  })
  return {
    order: (order: StageOrder) => child.send(order),
    /** The word that has this in it, once it was said. */
    async hear<K extends 'opened' | 'ready' | 'busyShare'>(key: K): Promise<Named<K>> {
      for (;;) {
        const word = words.find((one): one is Named<K> => key in one)
        if (word !== undefined) return word
        if (ended) throw new InvariantError('a stage ended before it was done')
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
    stop: () => { child.disconnect() }, // prettier-ignore
  }
}

/** Of the stage that waited least and of the one that waited most; and what a micro-batch took. */
export async function busyShares(): Promise<{ most: number; least: number; msPerBatch: number }> {
  const started = Array.from({ length: stages }, startStage)
  try {
    const opened = await Promise.all(started.map((stage) => stage.hear('opened')))
    const peers = opened.map((word) => word.opened)
    const key = createJobKey()
    for (const [stage, one] of started.entries()) {
      const { peer = '' } = peers[stage] ?? {}
      const certificate = issueCertificate(key, { peer, role: 'member', expiresAt: Date.now() + hour })
      one.order({ take: { publicKey: key.publicKey, certificate, stage, peers } })
    }
    await Promise.all(started.map((stage) => stage.hear('ready')))
    for (const stage of started) stage.order({ begin: true })
    const done = await Promise.all(started.map((stage) => stage.hear('busyShare')))
    const shares = done.map(({ busyShare }) => busyShare)
    return {
      ...{ most: Math.max(...shares), least: Math.min(...shares) },
      msPerBatch: Math.max(...done.map(({ msPerBatch }) => msPerBatch)),
    }
  } finally {
    for (const stage of started) stage.stop()
  }
}
