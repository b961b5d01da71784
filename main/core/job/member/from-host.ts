/** What each message of the host makes a member do. */
import type { Header, WireMessage, WireType } from '../../../../shared/messages/wire.ts'
import type { Plan } from '../../../../shared/plan/plan.ts'
import type { JobNews } from '../../../../shared/messages/job-news.ts'
import type { LinkProbes } from '../link-probes.ts'
import { rehearseIfAble } from '../rehearsal.ts'
import { readNumbers } from '../checkpoint.ts'
import { sendState } from '../transfer.ts'
import type { Outcome } from './departure.ts'
import type { Assignment, HeaderToHost, MemberPorts, Membership } from './member-ports.ts'
import type { StageLife } from './stage-life.ts'
import type { StateExchange } from './state-exchange.ts'

/** The deeds of a member that its host asks for. */
export interface Deeds {
  readonly stage: () => StageLife | undefined
  readonly state: StateExchange
  readonly probes: LinkProbes
  readonly signal: AbortSignal
  take(assignment: Assignment): void
  start(header: Header<'start'>): void
  standBy(reason: string): void
  replan(plan: Plan, reason: string): void
  hear(news: JobNews): void
  end(outcome: Outcome): void
  toHost(header: HeaderToHost): void
  background(work: Promise<unknown> | undefined): void
}

export type FromHost = { readonly [T in WireType]?: (message: WireMessage<T>) => void }

/** What the host asks that takes a while. */
function slowDeeds(ports: MemberPorts, { host, job }: Membership, deeds: Deeds) {
  const { links, engine, clock } = ports
  return {
    async measure({ header: { peers, plan } }: WireMessage<'measure-links'>): Promise<void> {
      deeds.toHost({ type: 'links', links: await deeds.probes.measure(peers, plan, deeds.signal) })
    },
    async rehearse({ header }: WireMessage<'rehearse'>): Promise<void> {
      const { probes, signal } = deeds
      // A stage that is given out meanwhile has the engine for itself.
      const isOver = () => signal.aborted || deeds.stage() !== undefined
      if (isOver()) return
      deeds.toHost({
        type: 'rehearsed',
        ...(await rehearseIfAble({ ...ports, probes }, { ...header, signal, isOver })),
      })
    },
    async validate({ header: { id, samples } }: WireMessage<'validate'>): Promise<void> {
      const validated = await deeds.stage()?.run?.validate(samples)
      if (validated !== undefined) deeds.toHost({ type: 'validated', id, ...validated })
    },
    async hold(): Promise<void> {
      // Told to proceed meanwhile: there is nothing to say.
      if ((await deeds.stage()?.run?.hold()) === 'held') deeds.toHost({ type: 'held' })
    },
    async handOver({ header }: WireMessage<'parameters-request'>): Promise<void> {
      const { layers, plan, optimizer } = header
      // An update that has begun is in the numbers; what the stage trains later is not, or more than it says.
      const cursor = deeds.stage()?.run?.cursor
      const rest = () => clock.sleep(0)
      // A stage that has begun is further than what was agreed on, though others may still take that.
      const agreed = deeds.stage()?.isBegun === true ? undefined : deeds.state.read(layers)
      const numbers = () => agreed ?? readNumbers(engine, layers, rest)
      const state = await (optimizer ? numbers() : engine.readState(layers))
      await sendState(links, { to: host, job, plan, cursor }, state, deeds.signal)
    },
  }
}

export function messagesFromHost(ports: MemberPorts, membership: Membership, deeds: Deeds): FromHost {
  const { links } = ports
  const slow = slowDeeds(ports, membership, deeds)
  const run = () => deeds.stage()?.run
  return {
    // Admission heard it already.
    admitted: () => undefined,
    roster({ header }) {
      for (const { peer, addresses } of header.members)
        if (peer !== links.self) deeds.background(links.learnAddresses(peer, addresses))
    },
    'measure-links': (message) => {
      deeds.background(slow.measure(message))
    },
    rehearse: (message) => {
      deeds.background(slow.rehearse(message))
    },
    assignment: ({ header }) => {
      deeds.take(header)
    },
    'state-holders': ({ header }) => {
      deeds.state.holders(header)
    },
    start: ({ header }) => {
      deeds.start(header)
    },
    'stand-by': ({ header }) => {
      deeds.standBy(header.reason)
    },
    /** It is a host that does not know us any more, where it is one at all: our agent asks at its door. */
    refused: ({ header }) => {
      deeds.end({ outcome: 'failed', code: 'host-lost', reason: header.text })
    },
    replan: ({ header }) => {
      deeds.replan(header.proposal, header.reason)
    },
    validate: (message) => {
      deeds.background(slow.validate(message))
    },
    hold: () => {
      deeds.background(slow.hold())
    },
    proceed: () => {
      run()?.proceed()
    },
    finish: () => {
      run()?.finish()
    },
    'parameters-request': (message) => {
      deeds.background(slow.handOver(message))
    },
    'job-news': ({ header }) => {
      deeds.hear(header)
    },
    'job-ended': ({ header }) => {
      deeds.end({ outcome: header.outcome, reason: header.reason })
    },
  }
}
