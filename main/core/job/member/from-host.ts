/** What each message of the host makes a member do. */
import type { WireHeader, WireMessage, WireType } from '../../../../shared/messages/wire.ts'
import type { Plan } from '../../../../shared/plan/plan.ts'
import type { JobResult } from '../../../../shared/messages/control.ts'
import type { LinkProbes } from '../link-probes.ts'
import { sendState } from '../transfer.ts'
import type { Assignment, MemberPorts, Membership } from './member-ports.ts'
import type { StageLife } from './stage-life.ts'

type WithoutEnvelope<H> = H extends WireHeader ? Omit<H, 'job' | 'plan'> : never
export type HeaderToHost = WithoutEnvelope<WireHeader>

/** The deeds of a member that its host asks for. */
export interface Deeds {
  readonly stage: () => StageLife | undefined
  readonly probes: LinkProbes
  readonly signal: AbortSignal
  take(assignment: Assignment): void
  start(): void
  replan(plan: Plan, reason: string): void
  end(outcome: Pick<JobResult, 'outcome' | 'reason'>): void
  toHost(header: HeaderToHost): void
  background(work: Promise<unknown> | undefined): void
}

export type FromHost = { readonly [T in WireType]?: (message: WireMessage<T>) => void }

export function messagesFromHost(ports: MemberPorts, { host, job }: Membership, deeds: Deeds): FromHost {
  const { links, engine } = ports
  const run = () => deeds.stage()?.run

  async function validate({ header: { id, samples } }: WireMessage<'validate'>): Promise<void> {
    const validated = await run()?.validate(samples)
    if (validated !== undefined) deeds.toHost({ type: 'validated', id, ...validated })
  }

  async function hold(): Promise<void> {
    await run()?.hold()
    deeds.toHost({ type: 'held' })
  }

  async function handOver({ header: { layers, plan } }: WireMessage<'parameters-request'>): Promise<void> {
    const state = await engine.readState(layers)
    await sendState(links, { to: host, job, plan }, state, deeds.signal)
  }

  return {
    // Admission heard it already.
    admitted: () => undefined,
    roster({ header }) {
      for (const { peer, addresses } of header.members)
        if (peer !== links.self) deeds.background(links.learnAddresses(peer, addresses))
    },
    'measure-links': ({ header }) => {
      const measured = deeds.probes.measure(header.peers, header.plan, deeds.signal)
      deeds.background(
        measured.then((reports) => {
          deeds.toHost({ type: 'links', links: reports })
        }),
      )
    },
    assignment: ({ header }) => {
      deeds.take(header)
    },
    parameters: (message) => {
      deeds.stage()?.accept(message)
    },
    start: () => {
      deeds.start()
    },
    replan: ({ header }) => {
      deeds.replan(header.proposal, header.reason)
    },
    validate: (message) => {
      deeds.background(validate(message))
    },
    hold: () => {
      deeds.background(hold())
    },
    proceed: () => {
      run()?.proceed()
    },
    finish: () => {
      run()?.finish()
    },
    'parameters-request': (message) => {
      deeds.background(handOver(message))
    },
    'job-ended': ({ header }) => {
      deeds.end({ outcome: header.outcome, reason: header.reason })
    },
  }
}
