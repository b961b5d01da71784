/** The processes of the bench of averaging: started in their namespaces, given orders, ended with us. */
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createJobKey } from '../../../main/edge/identity/job-key.ts'
import { issueCertificate } from '../../../main/edge/identity/certificate.ts'
import { InvariantError } from '../../../shared/errors.ts'
import { hour } from '../../../shared/units.ts'
import type { Namespaces } from './namespaces.ts'
import type { Answer, Order, Orders } from './orders.ts'

export interface Ring {
  readonly peers: readonly string[]
  /** One order to every member at once. */
  all<N extends keyof Orders>(name: N, input: Orders[N]['in']): Promise<Orders[N]['out'][]>
  stop(): Promise<void>
}

function startMember(prefix: readonly string[]) {
  const words = [...prefix, process.execPath, join(import.meta.dirname, 'child.ts')]
  const child: ChildProcess = spawn(words[0] ?? '', words.slice(1), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let orders = 0
  const fail = (reason: string) => {
    for (const { reject } of waiting.values()) reject(new InvariantError(reason))
    waiting.clear()
  }
  child.on('message', (answer: Answer) => {
    const order = waiting.get(answer.id)
    waiting.delete(answer.id)
    if ('error' in answer) order?.reject(new InvariantError(answer.error))
    else order?.resolve(answer.output)
  })
  child.on('exit', () => { fail('a member ended') }) // prettier-ignore
  return {
    order<N extends keyof Orders>(name: N, input: Orders[N]['in']): Promise<Orders[N]['out']> {
      const answer = Promise.withResolvers<unknown>()
      const id = orders++
      waiting.set(id, answer)
      child.send({ id, name, input } satisfies Order)
      return answer.promise as Promise<Orders[N]['out']>
    },
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.disconnect()
      await ended
    },
  }
}

/** Members that know each other and hold certificates of one job. They end when we do. */
export async function startRing(members: number, namespaces: Namespaces): Promise<Ring> {
  const started = Array.from({ length: members }, (_, index) => startMember(namespaces.prefix(index)))
  const opened = await Promise.all(
    started.map((member, index) => member.order('open', { address: namespaces.address(index) })),
  )
  const key = createJobKey()
  const { publicKey } = key
  await Promise.all(
    started.map((member, index) => {
      const { peer = '' } = opened[index] ?? {}
      const certificate = issueCertificate(key, { peer, role: 'member', expiresAt: Date.now() + hour })
      const others = [...opened.slice(index + 1), ...opened.slice(0, index)]
      return member.order('enter', { publicKey, certificate, others })
    }),
  )
  return {
    peers: opened.map(({ peer }) => peer),
    all: (name, input) => Promise.all(started.map((member) => member.order(name, input))),
    async stop() {
      await Promise.all(started.map((member) => member.stop()))
    },
  }
}
