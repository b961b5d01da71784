/** What a member sends, and its work in the background whose failure has its own way to the surface. */
import { reportOf } from '../../../../shared/errors.ts'
import type { PeerId } from '../../../../shared/ids.ts'
import type { HeaderToHost, MemberPorts, Membership } from './member-ports.ts'

export class Post {
  readonly #ports: MemberPorts
  readonly #membership: Membership
  readonly #planNumber: () => number

  constructor(ports: MemberPorts, membership: Membership, planNumber: () => number) {
    this.#ports = ports
    this.#membership = membership
    this.#planNumber = planNumber
  }

  /** @throws PeerLostError */
  readonly send = (header: HeaderToHost): Promise<void> => this.#send(this.#membership.host, header)

  readonly toHost = (header: HeaderToHost): void => {
    this.background(this.send(header))
  }

  readonly tell = (peer: PeerId, header: HeaderToHost): void => {
    this.background(this.#send(peer, header))
  }

  /** Lost peers are known through the links, the rest goes into the log. */
  readonly background = (work: Promise<unknown> | undefined): void => {
    work?.catch((error: unknown) => {
      const { kind, message } = reportOf(error)
      if (kind !== 'aborted') this.#ports.log(kind === 'bug' ? 'error' : 'warn', message)
    })
  }

  #send(peer: PeerId, header: HeaderToHost): Promise<void> {
    const whole = { ...header, job: this.#membership.job, plan: this.#planNumber() }
    return this.#ports.links.send(peer, { header: whole, tensors: [] })
  }
}
